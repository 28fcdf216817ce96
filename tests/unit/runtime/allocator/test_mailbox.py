"""The mailbox: what the driver, executors and the loop find there, in whatever order they come."""

from __future__ import annotations

import threading
from collections.abc import Iterable

from sparkgen.runtime.allocator.driver.mailbox import DriverMailbox, StartAnswer
from sparkgen.runtime.allocator.driver.round import Round
from sparkgen.runtime.allocator.values.actions import Delete
from sparkgen.runtime.allocator.values.decision import AllocationDecision
from sparkgen.runtime.allocator.values.memory import AllocatorMemory, CreateRequest, DeleteRequest
from sparkgen.runtime.allocator.values.observed import Snapshot
from sparkgen.runtime.allocator.values.settings import AllocationSettings
from sparkgen.runtime.allocator.values.target import DriverPhase, DriverTarget

SETTINGS = AllocationSettings(dynamic=True, maximum=5)


def target(revision: int = 1, session: str = "s1", phase: DriverPhase = DriverPhase.RUNNING) -> DriverTarget:
    """A state of the driver."""
    return DriverTarget(phase=phase, session=session, revision=revision, application_id="pi-1")


def made(
    start: Iterable[int] = (),
    said: DriverTarget | None = None,
    deleting: Iterable[int] = (),
    started: Iterable[int] = (),
) -> Round:
    """A round that lets executors start, or deletes them. `started`: what it knew of start answers."""
    start, deleting = set(start), list(deleting)
    memory = AllocatorMemory(
        requests={id_: CreateRequest(0, 0.0) for id_ in start},
        removals={id_: DeleteRequest(0.0) for id_ in deleting},
    )
    actions = tuple(Delete(id_) for id_ in deleting)
    decision = AllocationDecision(memory, "because", actions, start=frozenset(start))
    return Round(1.0, Snapshot(started=frozenset(started)), said or target(), SETTINGS, decision)


def mailbox() -> DriverMailbox:
    """A mailbox at time 3."""
    return DriverMailbox("tag", lambda: 3.0)


def test_an_older_state_is_not_taken_in() -> None:
    """It is acknowledged all the same, so that its sender is content."""
    found = mailbox()
    found.receive(target(5))
    assert found.receive(target(4)).revision == 4
    assert found.target().revision == 5


def test_a_new_session_replaces_the_old_one_for_good() -> None:
    """A context that was stopped long ago may still send its end."""
    found = mailbox()
    found.receive(target(9, "s1"))
    found.receive(target(1, "s2"))
    found.receive(target(10, "s1", DriverPhase.STOPPED))
    assert (found.target().session, found.target().phase) == ("s2", DriverPhase.RUNNING)


def test_the_loop_is_woken_by_news_only() -> None:
    """The driver says the same every ten seconds."""
    found = mailbox()
    found.receive(target())
    assert found.wait(0.0)
    found.receive(target())
    assert not found.wait(0.0)


def test_a_word_is_given_when_a_round_gives_it() -> None:
    """An executor that asks early is answered the moment that the round is there."""
    found = mailbox()
    words: list[StartAnswer] = []
    asking = threading.Thread(target=lambda: words.append(found.start_answer(1, 20.0)))
    asking.start()
    assert found.commit(made([1]))
    asking.join(10)
    assert words == [StartAnswer.GO]
    assert found.started() == {1}


def test_what_executors_are_told() -> None:
    """Go, wait, leave; a stranger waits: an allocator that restarted does not know everybody yet."""
    found = mailbox()
    assert found.start_answer(1, 0.0) is StartAnswer.WAIT
    found.commit(made([1], deleting=[2]))
    assert [found.start_answer(id_, 0.0) for id_ in (1, 2, 3)] == [
        StartAnswer.GO,
        StartAnswer.LEAVE,
        StartAnswer.WAIT,
    ]
    found.commit(made(said=target(phase=DriverPhase.STOPPED)))
    assert found.start_answer(3, 0.0) is StartAnswer.LEAVE


def test_a_round_that_deletes_whom_it_did_not_know_to_be_started() -> None:
    """Between a decision and its publication an executor was told to start: the decision is made again."""
    found = mailbox()
    found.commit(made([1]))
    found.start_answer(1, 0.0)
    assert not found.commit(made(deleting=[1]))
    assert found.commit(made(deleting=[1], started=[1]))


def test_those_that_are_gone_are_forgotten() -> None:
    """Otherwise a long application would collect them."""
    found = mailbox()
    found.commit(made([1, 2]))
    found.start_answer(1, 0.0)
    found.start_answer(2, 0.0)
    assert found.commit(made([2]))
    assert found.started() == {1, 2}  # an incomplete view is no reason
    after = made([2])
    whole = Snapshot(complete=True, started=frozenset({1, 2}))
    assert found.commit(Round(2.0, whole, after.target, SETTINGS, after.decision))
    assert found.started() == {2}


def test_the_report_changes_its_tag_with_its_content() -> None:
    """A driver that has it waits; one of another session hears nothing."""
    found = mailbox()
    found.commit(made())
    answer = found.report("s1", "", 0.0)
    assert answer is not None
    tag, report = answer
    assert report.bounds == (0, 5)
    found.commit(made([1]))
    assert found.report("s1", tag, 0.0) is None
    assert found.report("s2", "", 0.0) is None
    found.commit(made(deleting=[1]))
    assert found.report("s1", tag, 0.0) is None


def test_the_end() -> None:
    """Executors leave when it is over, and wait for the next allocator when it is not."""
    found = mailbox()
    found.commit(made([1]))
    found.close(leave=False)
    assert (found.start_answer(1, 0.0), found.report("s1", "", 0.0)) == (StartAnswer.WAIT, None)
    found.close(leave=True)
    assert found.start_answer(1, 0.0) is StartAnswer.LEAVE


def test_the_end_answers_everybody_who_waits() -> None:
    """There is nothing to wait for: no round is made any more."""
    found = mailbox()
    words: list[StartAnswer] = []
    asking = threading.Thread(target=lambda: words.append(found.start_answer(1, 600.0)), daemon=True)
    asking.start()
    found.close(leave=False)
    asking.join(10)
    assert words == [StartAnswer.WAIT]


def test_a_crash_ends_it_and_is_kept() -> None:
    """The first one counts."""
    found = mailbox()
    first = ValueError("first")
    found.crash(first)
    found.crash(ValueError("second"))
    assert (found.closed, found.crashed) == (True, first)


def test_the_age_of_the_last_round() -> None:
    """What the liveness probe asks for."""
    found = mailbox()
    assert found.age is None
    found.commit(made())
    assert found.age == 2.0


def test_a_driver_that_says_nothing_for_long_is_away_until_it_speaks() -> None:
    """It speaks every ten seconds; the loop is woken when it is back, though it says what it said before."""
    times = [0.0]
    found = DriverMailbox("tag", lambda: times[0])
    found.receive(target())
    found.wait(0.0)
    times[0] = 30.0
    assert not found.target().away
    times[0] = 36.0
    assert found.target().away
    found.receive(target())
    assert found.wait(0.0)
    assert not found.target().away


def test_the_target_says_when_the_driver_spoke_last() -> None:
    """Also when it said nothing new: whether failures count depends on it."""
    clock = [100.0]
    found = DriverMailbox("tag", lambda: clock[0])
    said = DriverTarget(DriverPhase.RUNNING, "s", 1, "app")
    found.receive(said)
    clock[0] = 110.0
    found.receive(said)
    assert found.target().heard_at == 110.0


def test_a_driver_that_goes_on_speaking_is_the_one_that_is() -> None:
    """The first word of a driver that died may come after its successor's, and silences that not for good."""
    clock = [100.0]
    found = DriverMailbox("tag", lambda: clock[0])
    dead, alive = (DriverTarget(DriverPhase.RUNNING, session, 1, "app") for session in ("dead", "alive"))
    for state in (alive, dead, alive):
        found.receive(state)
    assert found.target().session == "dead"
    clock[0] = 110.0
    found.receive(alive)
    assert found.target().session == "dead", "two words of a driver that is over may both be late"
    clock[0] = 120.0
    found.receive(alive)
    assert found.target().session == "alive"
    found.receive(dead)
    assert found.target().session == "alive"
