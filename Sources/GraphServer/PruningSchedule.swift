import Foundation
import GraphModel
import Logging
import NIOCore

/// Prunes history while the store is served.
///
/// Periodically, it computes which commits the policy releases and removes them in slices, each between two commits
/// of the writer. Nothing is pruned while the clock may be wrong (`PruningClock`).
///
/// A slice waits until no commit is in progress, but for `maximumWait` at most, so that pruning advances on a server
/// that is never idle. During a slice, no commit runs on the loop (`HubRunner.betweenCommits`), so a commit waits for
/// at most one slice, whose size the store bounds.
///
/// `@unchecked Sendable`: mutable state is used on the runner's loop only; the rest are constants of Sendable types.
final class PruningSchedule: @unchecked Sendable {
  private let store: any GraphStoring
  private let runner: HubRunner
  private let internalReaders: ReaderPool
  private let policy: HistoryPolicy
  private let log: Logger
  /// Decides whether the time of day can be trusted for pruning.
  private var clock: PruningClock
  /// The last logged refusal.
  private var refusal: PruningClock.Reason?
  /// The pruning in progress.
  private var pruning: HistoryPruning?
  private var waited = TimeAmount.zero

  /// The delay between two slices, and between two checks for commits in progress.
  private static let pause = TimeAmount.milliseconds(20)
  /// The longest time that a slice waits for the commits in progress to end.
  private static let maximumWait = TimeAmount.seconds(5)
  /// The delay of the first check, if the period is longer.
  private static let firstDelay = TimeAmount.seconds(60)

  /// - Parameter start: a reading of the clocks from before the first commit of this run.
  init(
    store: any GraphStoring, runner: HubRunner, internalReaders: ReaderPool, policy: HistoryPolicy,
    start: PruningClock.Reading,
    log: Logger
  ) {
    clock = PruningClock(start, retention: policy.retention)
    self.store = store
    self.runner = runner
    self.internalReaders = internalReaders
    self.policy = policy
    self.log = log
  }

  /// Checks every `period` until the returned task is cancelled.
  func start(every period: TimeAmount) -> RepeatedTask {
    runner.loop.scheduleRepeatedTask(initialDelay: min(period, Self.firstDelay), delay: period) { _ in self.check() }
  }

  // MARK: - On the loop

  private func check() {
    if pruning != nil { return }
    internalReaders.enqueue { [self] in
      let reading = Result { try Self.reading(store) }
      runner.loop.execute { self.decide(reading) }
    }
  }

  /// Reads the clocks and the time of the newest commit.
  static func reading(_ store: any GraphStoring) throws -> PruningClock.Reading {
    let newest = try store.revision(at: .max)
    // Linux's CLOCK_MONOTONIC stops during suspend, so a resume would look like a jump of the wall clock.
    var time = timespec()
    #if os(Linux)
      clock_gettime(CLOCK_BOOTTIME, &time)
    #else
      clock_gettime(CLOCK_MONOTONIC, &time)
    #endif
    return PruningClock.Reading(
      wall: GraphServer.now(), monotonic: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000,
      head: newest.head.revision, newest: newest.revision > 0 ? newest.time : nil)
  }

  private func decide(_ reading: Result<PruningClock.Reading, any Error>) {
    // An earlier check, delayed by a slow disk, may have begun.
    if pruning != nil { return }
    switch reading {
    case .failure(let error): log.error("history can't be read for pruning", metadata: ["failure": "\(error)"])
    case .success(let reading):
      switch clock.decide(reading) {
      case .refuse(let reason): refuse(reason)
      case .prune(let now, let through):
        refusal = nil
        internalReaders.enqueue { [self] in
          let plan = Result { try store.pruning(policy, now: now, through: through) }
          runner.loop.execute { self.begin(plan) }
        }
      }
    }
  }

  /// Logs a refusal once for each reason, because the clock is checked often.
  private func refuse(_ reason: PruningClock.Reason) {
    defer { refusal = reason }
    if refusal == reason { return }
    let wait = "\(min(PruningClock.settlingTime, policy.retention) / 1_000_000) s"
    switch reason {
    case .jumped(let span):
      log.warning(
        "history is not pruned: the clock was set; if it is right now, pruning resumes by itself",
        metadata: ["by": "\(span / 1_000_000) s", "after": "\(wait)"])
    case .aheadOfNewest(let span):
      log.warning(
        """
        history is not pruned: the clock is far ahead of the newest commit, or was when the newest ones were made; if \
        it is right, pruning resumes by itself
        """,
        metadata: ["by": "\(span / 1_000_000) s", "after": "\(wait)"])
    }
  }

  private func begin(_ plan: Result<HistoryPruning, any Error>) {
    // As in `decide`.
    if pruning != nil { return }
    switch plan {
    case .success(let plan) where plan.commits > 0:
      pruning = plan
      removeSlice()
    case .success: break
    case .failure(let error): log.error("history can't be read for pruning", metadata: ["failure": "\(error)"])
    }
  }

  private func removeSlice() {
    guard let target = pruning?.floor else { return assertionFailure("slices are removed while pruning") }
    guard !runner.isCommitting || waited >= Self.maximumWait else {
      waited = waited + Self.pause
      return scheduleSlice()
    }
    waited = .zero
    runner.betweenCommits { [store] in
      Result { try store.prune(through: target) }
    } then: {
      self.finishSlice($0)
    }
  }

  private func finishSlice(_ result: Result<Bool, any Error>) {
    switch result {
    case .success(true): scheduleSlice()
    case .success(false): finish()
    case .failure(let error):
      pruning = nil
      log.error("history can't be pruned", metadata: ["failure": "\(error)"])
    }
  }

  private func scheduleSlice() { runner.loop.scheduleTask(in: Self.pause) { self.removeSlice() } }

  private func finish() {
    guard let done = pruning else { return assertionFailure("slices are removed while pruning") }
    pruning = nil
    log.info(
      "history was pruned",
      metadata: ["commits": "\(done.commits)", "bytes": "\(done.bytes)", "oldest": "\(done.floor)"])
  }
}
