"""What goldens share: documents that name no runtime get the runtime image, as in the chart."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sparkgen.document import Document
from sparkgen.usecases import render


def as_it_is(document: Document) -> Document:
    """The document without a ConfigMap, whose name would change with each line of the runtime."""
    return document


@pytest.fixture(scope="module", autouse=True)
def image_by_default() -> Iterator[None]:
    """Have `render` leave documents as they are; tests/unit/cli/test_cli_runtime.py has the ConfigMap.

    For a module: a worker plays other tests after it, which need the ConfigMap.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(render, "with_runtime", as_it_is)
        yield
