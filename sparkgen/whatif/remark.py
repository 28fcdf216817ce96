"""Remarks about a recording in addition to numbers: a code for programs, and a sentence for people."""

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
    DELAY_INFERRED = "DelayInferred"
    EXECUTORS_LOST = "ExecutorsLost"
    CLOCK = "Clock"
    TASKS_MISSING = "TasksMissing"
    TASKS_FOLLOW_CORES = "TasksFollowCores"
    MORE_CAME = "MoreCame"
    WAITS_FOR_EXECUTORS = "WaitsForExecutors"
    CLUSTER_FULL = "ClusterFull"
    LARGE_ERROR = "LargeError"
    LOG_UNFINISHED = "LogUnfinished"
    LOG_BROKEN = "LogBroken"
    NO_CONFIGURATION = "NoConfiguration"
    FEWER_CAME = "FewerCame"
    SEVERAL_PROFILES = "SeveralProfiles"
    SPECULATION = "Speculation"
    FAIR_SCHEDULER = "FairScheduler"
    TRIGGER_PHASE = "TriggerPhase"
    SHUFFLE_CLEANING = "ShuffleCleaning"


@dataclass(frozen=True, slots=True)
class Remark:
    """A remark."""

    code: RemarkCode
    text: str
    better: str = ""
    """How to get a log or a replay without this doubt; "" if there is no way."""

    @property
    def sentence(self) -> str:
        """The text, and what to do about it."""
        return f"{self.text}; {self.better}" if self.better else self.text
