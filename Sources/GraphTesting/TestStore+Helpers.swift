import GraphModel
import GraphStore
import GraphStoreTools

/// Closes a store, checks it, and opens it again.
public struct StoreCheckRun {
  /// The findings of the check; empty for a sound store.
  public let findings: [StoreFinding]

  /// Runs the check.
  public init(_ store: TestStore) throws {
    try store.store.close()
    findings = try StoreCheck.run(directory: store.directory.path, model: store.model, heldObjects: 3)
    try store.reopen()
  }
}

extension TestStore {
  /// Runs `body` as another author, with a replica of its own.
  @discardableResult
  public func by<Result>(_ author: String, _ body: () throws -> Result) rethrows -> Result {
    let (before, beforeReplica) = (self.author, replica)
    self.author = author
    replica = UniqueID(high: 3, low: author.utf8.reduce(0) { $0 &* 31 &+ UInt64($1) })
    defer { (self.author, replica) = (before, beforeReplica) }
    return try body()
  }

  /// Runs `body` as a user with these grants, with a replica of its own.
  @discardableResult
  public func by<Result>(_ user: String, _ grants: [Grant], _ body: () throws -> Result) rethrows -> Result {
    let before = rights
    rights = Rights(user: user, grants: grants)
    defer { rights = before }
    return try by(user, body)
  }

  /// Returns the result of a commit.
  /// - Throws: the refusal, if it was refused.
  @discardableResult
  public func taken(_ result: WriteResult) throws -> CommitResult {
    switch result.outcome {
    case .committed(let committed): return committed
    case .refused(let refusal): throw refusal
    }
  }

  /// Prunes slice by slice, to the end.
  public func prune(through revision: Revision) throws { while try store.prune(through: revision) {} }
}
