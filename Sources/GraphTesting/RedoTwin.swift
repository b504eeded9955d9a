import Foundation
import GraphModel
import GraphStore
import GraphStoreTools
import Synchronization

/// A second store, to which the commit log's entries of a test's store are applied. It must equal that store.
public final class RedoTwin {
  /// The directory of the second store.
  public let directory: TemporaryDirectory
  /// The second store.
  public let store: SQLiteStore

  /// Creates a store with the identity of `other`: from a copy of the files that `other` was opened with, or empty if
  /// `other` was created.
  /// - Parameter configure: sets further options.
  public init(of other: TestStore, configure: (inout SQLiteStore.Options) -> Void = { _ in }) throws {
    directory = try TemporaryDirectory()
    if let files = other.initialFiles {
      try files.copyStore(to: directory)
      try StoreComparison.makeIndependent(directory.path)
    }
    var options = SQLiteStore.Options()
    options.wordLimit = 3
    let ids = IDHalves(other.store.storeID)
    options.random = { ids.next() }
    configure(&options)
    store = try SQLiteStore(directory: directory.path, model: other.model, options: options)
  }

  /// Applies entries in their binary form.
  public func apply(_ entries: [LogEntry]) throws {
    try store.apply { body in
      for entry in entries { try body(try LogEntry(binary: entry.binary)) }
    }
  }

  /// Closes the store.
  /// - Returns: the differences from the other store, and the findings of a check.
  public func differences(from other: TestStore) throws -> [String] {
    try store.close()
    // The comparison reads the files.
    other.store.settle()
    let findings = try StoreCheck.run(directory: directory.path, model: other.model, heldObjects: 3)
    return try StoreComparison.differences(other.directory.path, directory.path) + findings.map(\.text)
  }
}

/// The halves of a store's id, returned as random numbers.
private final class IDHalves: Sendable {
  private let id: UniqueID
  private let isSecond = Mutex(false)

  init(_ id: UniqueID) { self.id = id }

  func next() -> UInt64 {
    isSecond.withLock { isSecond in
      defer { isSecond.toggle() }
      return isSecond ? id.low : id.high
    }
  }
}

/// The entries of a test's store, in order.
public final class EntryRecorder: Sendable {
  private let entries = Mutex([LogEntry]())

  /// The entries so far.
  public var all: [LogEntry] { entries.withLock { $0 } }

  func append(_ more: [LogEntry]) { entries.withLock { $0 += more } }
}

extension TestStore {
  /// Repeats all commits since the opening in a second store.
  /// - Returns: the differences; nil if there are none. It is also nil if they can't be computed, because the store is
  ///   pruned, or because its files were changed and the entries do not lead from its first state to its newest.
  public func redoDifferences() throws -> [String]? {
    let entries = recorder.all
    guard let first = entries.first, try entries.last?.revision == store.head.revision,
      try store.oldestRevision == 0
    else { return nil }
    let twin = try RedoTwin(of: self)
    guard try twin.store.head.revision == first.revision - 1 else { return nil }
    try twin.apply(entries)
    return try twin.differences(from: self)
  }
}

extension TemporaryDirectory {
  /// Copies the store in a directory, without its commit log; nil if there is none, or if its files can't be read.
  convenience init?(copyOfStoreIn source: String) {
    guard FileManager.default.fileExists(atPath: source + "/graph.sqlite") else { return nil }
    do {
      try self.init()
      try Self.copyStore(in: source, to: path)
    } catch {
      return nil
    }
  }

  /// Copies the store in this directory to another one.
  func copyStore(to other: TemporaryDirectory) throws { try Self.copyStore(in: path, to: other.path) }

  private static func copyStore(in source: String, to target: String) throws {
    for name in ["graph.sqlite", "graph.sqlite-wal"] {
      guard FileManager.default.fileExists(atPath: source + "/" + name) else { continue }
      try FileManager.default.copyItem(atPath: source + "/" + name, toPath: target + "/" + name)
    }
  }
}
