"""Who may come, who is gone, and when all is over: the rules where drivers come and go."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparkgen.codes import Code, Hindrance
from sparkgen.runtime.allocator.driver import sessions
from sparkgen.runtime.allocator.driver.mailbox import DriverMailbox
from sparkgen.runtime.allocator.driver.protocol import BadMessage, target_of
from sparkgen.runtime.allocator.driver.sessions import (
    Occupant,
    SessionAwaited,
    SessionRules,
    SessionTaken,
    as_seen,
    has_place,
    why_over,
)
from sparkgen.runtime.allocator.values.target import DriverPhase, DriverTarget

RUNNING, STOPPED = DriverPhase.RUNNING, DriverPhase.STOPPED
TIMES = st.floats(0, 1000)


def target(session: str, phase: DriverPhase = RUNNING, revision: int = 1, owner: str = "") -> DriverTarget:
    """A state of a driver."""
    return DriverTarget(phase, session, revision, application_id=f"app-{session}", owner=owner)


class Clock:
    """A clock that is set."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        """The time."""
        return self.now


@pytest.fixture
def clock() -> Clock:
    """A clock at 100 s."""
    return Clock()


@given(TIMES, TIMES)
def test_a_driver_keeps_its_place_for_a_minute(heard_at: float, silence: float) -> None:
    """No second one gets it before, and each does afterwards."""
    now = heard_at + silence
    occupant = Occupant(target("a"), 0.0, heard_at)
    assert has_place(occupant, now, sessions.no_sockets) is (now - heard_at <= 60)
    stopped = Occupant(target("a", STOPPED), 0.0, heard_at)
    assert not has_place(stopped, now, sessions.no_sockets)


@given(st.sets(st.sampled_from("abc")), st.sets(st.sampled_from("abcd")))
def test_a_kernel_is_dead_when_nothing_listens_that_did(before: set[str], now: set[str]) -> None:
    """Where nobody could see who listened, it is not seen to be dead."""
    occupant = Occupant(target("a"), 0.0, 100.0, frozenset(before))
    assert has_place(occupant, 101.0, lambda: frozenset(now)) is (not before or bool(before & now))


@given(TIMES, st.lists(st.none() | TIMES, max_size=2), TIMES, st.booleans())
def test_a_session_ends_when_nobody_was_heard(
    began: float, heard: list[float | None], later: float, resumed: bool
) -> None:
    """A minute after the last word, or after a restart; five minutes when nobody ever came."""
    words = [time for time in heard if time is not None]
    last = max([began, *words])
    now = last + later
    wait = 60 if words or resumed else 300
    assert bool(why_over(began, heard, now, resumed=resumed)) is (now - last > wait)


@given(st.sampled_from(DriverPhase), TIMES, TIMES, st.booleans())
def test_without_a_driver_nothing_is_wanted(
    phase: DriverPhase, heard_at: float, later: float, resumed: bool
) -> None:
    """A driver that speaks is seen as it says; one that may come back after a restart is waited for."""
    now = heard_at + later
    said = DriverTarget() if phase is DriverPhase.SILENT else target("a", phase)
    seen = as_seen(said, heard_at, now, resumed=resumed)
    silent = now - heard_at > 60
    if phase is DriverPhase.SILENT:
        assert seen.phase is (DriverPhase.SILENT if resumed and not silent else STOPPED)
    else:
        assert seen.phase is (STOPPED if silent else phase)
    waited_for = phase is RUNNING or (phase is DriverPhase.SILENT and resumed)
    assert seen.given_up is (silent and waited_for)


@given(st.sampled_from([DriverPhase.SILENT, RUNNING]), TIMES, st.floats(0, 60))
def test_it_says_when_a_driver_is_given_up(phase: DriverPhase, heard_at: float, later: float) -> None:
    """So that a round is made then, though nothing happens."""
    said = DriverTarget() if phase is DriverPhase.SILENT else target("a", phase)
    seen = as_seen(said, heard_at, heard_at + later, resumed=True)
    if seen.gives_up_at is not None:
        assert as_seen(said, heard_at, seen.gives_up_at, resumed=True).given_up


def test_a_second_driver_is_told_who_is_there(clock: Clock) -> None:
    """Who, for how long, and what to do; and the log hears of it once for each."""
    refused: list[DriverTarget] = []
    mailbox = DriverMailbox("t", clock, SessionRules(refused=refused.append))
    mailbox.receive(target("a", owner="etl, process 7 on ana"))
    clock.now += 300
    mailbox.receive(target("a", owner="etl, process 7 on ana"))
    for _ in range(3):
        with pytest.raises(SessionTaken, match=r"etl, process 7 on ana, for 5 min\. .*spark\.stop\(\)"):
            mailbox.receive(target("b"))
    assert [one.session for one in refused] == ["b"]
    assert mailbox.target().session == "a"
    clock.now += 61
    mailbox.receive(target("b"))
    assert mailbox.target().session == "b"
    with pytest.raises(SessionTaken):
        mailbox.receive(target("a", revision=2))


def test_after_a_restart_the_driver_from_before_is_waited_for(clock: Clock) -> None:
    """Another one asks again until that one has spoken, or for a minute."""
    mailbox = DriverMailbox("t", clock, SessionRules("a"))
    assert mailbox.target().phase is DriverPhase.SILENT
    with pytest.raises(SessionAwaited, match="try again"):
        mailbox.receive(target("b"))
    assert mailbox.receive(target("b", STOPPED)).session == "b"
    assert mailbox.heard_at is None
    clock.now += 61
    assert mailbox.target().phase is STOPPED
    mailbox.receive(target("b"))
    assert mailbox.target().session == "b"


def test_sockets_of_the_one_before_are_not_its_own(clock: Clock) -> None:
    """A driver that follows one which hangs does not count as dead when that one ends at last."""
    found = {"sockets": frozenset({"1"})}
    mailbox = DriverMailbox("t", clock, SessionRules(sockets=lambda: found["sockets"]))
    mailbox.receive(target("a"))
    clock.now += 61
    mailbox.receive(target("b"))
    found["sockets"] = frozenset()
    with pytest.raises(SessionTaken):
        mailbox.receive(target("c"))


def test_the_driver_is_told_of_the_end_whatever_a_round_says(clock: Clock) -> None:
    """Nobody is waited for where no driver runs."""
    mailbox = DriverMailbox("t", clock, SessionRules())
    ended = Hindrance(Code.SESSION_ENDED, "over")
    mailbox.fail(ended)
    assert not mailbox.wait_told(30.0)


@pytest.mark.parametrize(
    ("owner", "expected"),
    [
        ("etl, process 7 on ana", "etl, process 7 on ana"),
        ("two\nlines\tand \x1b[31m colours \u202e", "two lines and \ufffd[31m colours \ufffd"),
        ("x" * 100_000, "x" * 200),
        ("", ""),
    ],
)
def test_an_owner_is_one_line(owner: str, expected: str) -> None:
    """It is user code's text, and stands in logs and in another driver's exception."""
    state = {"version": 1, "session": "a", "revision": 1, "phase": "running", "applicationId": "app"}
    assert target_of(state | {"owner": owner}).owner == expected
    assert target_of(state).owner == ""
    with pytest.raises(BadMessage, match="owner"):
        target_of(state | {"owner": 7})
