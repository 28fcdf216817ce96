"""What is said of a recording beside numbers: a code for programs, and a sentence for people."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class RemarkCode(str, enum.Enum):
    """The codes of remarks. A sentence may change, a code does not."""

    # What to look at
    MEMORY_UNUSED = "MemoryUnused"
    EXECUTORS_BEYOND_LIMIT = "ExecutorsBeyondLimit"
    IDLE_HELD_BY_SHUFFLE = "IdleHeldByShuffle"
    SPILLED = "Spilled"
    GARBAGE_COLLECTION = "GarbageCollection"
    NO_TASK_RAN = "NoTaskRan"
    # What a replay does not know, or does otherwise
    MAY_SPILL = "MaySpill"
    DELAY_ASSUMED = "DelayAssumed"
    LOG_UNFINISHED = "LogUnfinished"
    LOG_BROKEN = "LogBroken"
    FEWER_CAME = "FewerCame"
    SEVERAL_PROFILES = "SeveralProfiles"
    SPECULATION = "Speculation"
    FAIR_SCHEDULER = "FairScheduler"
    STAGES_AGAIN = "StagesAgain"
    TRIGGER_PHASE = "TriggerPhase"
    SHUFFLE_CLEANING = "ShuffleCleaning"


@dataclass(frozen=True, slots=True)
class Remark:
    """One of them."""

    code: RemarkCode
    text: str
