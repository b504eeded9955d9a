// Tests: LogCheckTests.swift
import GraphLog
import GraphModel
import GraphStore

/// Checks the commit log of a store. The log may have newer commits than the store; the check reads them and does not
/// apply them.
///
/// The log must belong to the store and to its past, and the newer commits must follow the store's newest one: each
/// fingerprint covers the one before it. The log's own checksums cover the bytes of each entry.
struct CommitLogChecker {
  private let store: CheckedStore
  private let folder: String
  /// The number of commits above the store's newest one.
  private(set) var unappliedCommits = 0

  init(_ store: CheckedStore, folder: String) { (self.store, self.folder) = (store, folder) }

  mutating func check() throws {
    do {
      // Without an id the store is damaged, and the check of its own rows reports it.
      if let id = try store.database.storeID() { try check(LogReader(folder: folder, store: id)) }
    } catch let failure as StoreFailure {
      report(failure.cause.isEmpty ? failure.sentence : "\(failure.sentence): \(failure.cause)")
    }
  }

  private mutating func check(_ reader: LogReader) throws {
    let history = HistoryReader(objects: store.objects)
    let (head, beginning, extent) = (try history.head(), reader.beginning, reader.extent)
    if let known = try history.fingerprint(of: beginning.revision), known != beginning.fingerprint {
      throw otherPast("it begins after another commit of revision \(beginning.revision)")
    }
    let model = try store.connection.integer("SELECT max(number) FROM _model")
    // The newest commit that both have is compared.
    let known = extent.after <= head.revision ? max(extent.after, min(head.revision, extent.last) - 1) : head.revision
    var previous = head.fingerprint
    try reader.read(after: known) { record in
      let commit = commit(in: record)
      if let commit, commit.revision <= head.revision {
        try compare(commit, with: history)
      } else if let commit {
        verify(commit, after: previous, model: model)
        previous = commit.fingerprint
      }
    }
  }

  /// Compares a commit of the log with that of the store.
  private func compare(_ commit: LogEntry.Commit, with history: HistoryReader) throws {
    // History may no longer have the commit.
    if let known = try history.fingerprint(of: commit.revision), known != commit.fingerprint {
      throw otherPast("it has another commit of revision \(commit.revision)")
    }
  }

  /// The commits of the log then belong to another store, and are not counted.
  private func otherPast(_ cause: String) -> StoreFailure {
    StoreFailure(
      .corrupt, "the log \(folder) belongs to another past of the store", cause: cause,
      advice: "Put the store and its log back together, from one backup or one copy.")
  }

  /// Verifies a commit that the store lacks.
  private mutating func verify(_ commit: LogEntry.Commit, after previous: UInt64, model: Int64?) {
    unappliedCommits += 1
    if commit.row.model != model {
      report("the logged commit of revision \(commit.revision) belongs to another version of the model")
    }
    if commit.row.fingerprint(after: previous) != commit.fingerprint {
      report("the logged commit of revision \(commit.revision) does not follow the commit before it")
    }
  }

  /// The commit of a record; nil for a part of a batch, which its commit covers, and for a record without a valid form.
  private func commit(in record: LogRecord) -> LogEntry.Commit? {
    do {
      let entry = try LogEntry(binary: record.body)
      if case .commit(let commit) = entry { return commit }
      assert(!record.isLast, "the last record of an entry has its commit")
      return nil
    } catch {
      report("the logged commit of revision \(record.revision) can't be decoded: \(error.reason)")
      return nil
    }
  }

  private func report(_ text: String) { store.report(.commitLog, .init(), text) }
}
