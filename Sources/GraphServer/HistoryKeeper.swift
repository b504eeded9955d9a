import GraphModel
import GraphStore
import Logging
import NIOCore

/// Prunes history while the store is served: now and then it asks what the policy lets go, and takes that away in slices,
/// each a turn of the writer between two commits.
///
/// A slice waits until nothing is being committed, but not for ever: on a server that is never idle one goes every
/// `patience`. While one is under way no commit is made on the loop (`HubRunner.betweenCommits`), so whoever commits waits
/// for one slice at most, which the store bounds.
///
/// `@unchecked Sendable`: what changes is used on the runner's loop only; the rest are constants of Sendable types.
final class HistoryKeeper: @unchecked Sendable {
  private let store: SQLiteStore
  private let runner: HubRunner
  private let errands: ReaderPool
  private let policy: HistoryPolicy
  private let log: Logger
  /// What is being taken away, with where history began before.
  private var pruning: HistoryPruning?
  private var waited = TimeAmount.zero

  /// Between two slices, and until it is looked again whether nothing is being committed.
  private static let pause = TimeAmount.milliseconds(20)
  /// So long a slice waits for a moment in which nothing is being committed.
  private static let patience = TimeAmount.seconds(5)
  /// It is looked for the first time so soon, if the period is no shorter.
  private static let firstDelay = TimeAmount.seconds(60)

  init(
    store: SQLiteStore, runner: HubRunner, errands: ReaderPool, policy: HistoryPolicy, log: Logger
  ) {
    self.store = store
    self.runner = runner
    self.errands = errands
    self.policy = policy
    self.log = log
  }

  /// Looks every `period` from now on, until the task is cancelled.
  func start(every period: TimeAmount) -> RepeatedTask {
    runner.loop.scheduleRepeatedTask(initialDelay: min(period, Self.firstDelay), delay: period) { _ in self.look() }
  }

  // MARK: - On the loop

  private func look() {
    guard pruning == nil else { return }
    errands.enqueue { [self] in
      let plan = Result { try store.pruning(policy, now: GraphServer.now()) }
      runner.loop.execute { self.begin(plan) }
    }
  }

  private func begin(_ plan: Result<HistoryPruning, any Error>) {
    guard pruning == nil else { return }
    switch plan {
    case .success(let plan) where plan.commits > 0:
      pruning = plan
      takeSlice()
    case .success: break
    case .failure(let error): log.error("history can't be looked through", metadata: ["failure": "\(error)"])
    }
  }

  private func takeSlice() {
    guard let target = pruning?.floor else { return }
    guard !runner.isCommitting || waited >= Self.patience else {
      waited = waited + Self.pause
      return again()
    }
    waited = .zero
    runner.betweenCommits { [store] in
      Result { try store.prune(through: target) }
    } then: {
      self.tookSlice($0)
    }
  }

  private func tookSlice(_ result: Result<Bool, any Error>) {
    switch result {
    case .success(true): again()
    case .success(false): finish()
    case .failure(let error):
      pruning = nil
      log.error("history can't be pruned", metadata: ["failure": "\(error)"])
    }
  }

  private func again() { runner.loop.scheduleTask(in: Self.pause) { self.takeSlice() } }

  private func finish() {
    guard let done = pruning else { return }
    pruning = nil
    log.info(
      "history was pruned",
      metadata: ["commits": "\(done.commits)", "bytes": "\(done.bytes)", "oldest": "\(done.floor)"])
  }
}
