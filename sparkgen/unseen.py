"""Characters beyond ASCII that no reader sees, or that change the order of what a reader sees.

Listed, not asked of `str.isprintable` or `unicodedata`: their answers depend on the Unicode tables of the
Python that runs, and some of these count as letters there. Each text is a part of a regular expression's
class. Not here: joiners, and selectors of variants, which change the shape of emoji and of letters.
"""

FORMAT = (
    "\xad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Unicode's category Cf, less joiners and the signs that have a shape, such as the Arabic sign of a year."""
FILLERS = (
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0\U0001107f\U00016fe4\U0001d159"
)
"""Letters, marks and symbols without ink."""
