import GraphModel
import GraphTesting
import GraphWire

/// Messages about history.
extension RandomMessages {
  mutating func log() -> LogRequest {
    LogRequest(
      after: integer(), limit: unsigned(), through: integer(), filter: filter(), oldestFirst: bool(),
      changes: maybe { $0.unsigned() })
  }

  /// Several of a kind that has several forms.
  mutating func aboutHistory() -> [ToServer.Body] {
    [
      .why(id(), number()),
      .restore(RestoreRequest(transactionID(), .object(id()), at: revision())),
      .restore(RestoreRequest(transactionID(), .contents(id()), at: revision())),
      .restore(RestoreRequest(transactionID(), .everything, at: revision())),
      .changes(.follow(FollowRequest(since: token(), filter: filter(), limit: unsigned(), waits: bool()))),
      .changes(
        .differences(
          DifferenceRequest(
            from: integer(), to: integer(), object: maybe { $0.id() }, contents: bool(),
            entities: list { $0.number() }))),
    ]
  }

  private mutating func origin() -> ValueOrigin {
    var origin = ValueOrigin(
      kind: random.pick([.inserted, .updated, .revived]) ?? .inserted, value: value(), replaced: value(),
      revision: integer(), time: integer(), author: string(), transaction: transactionID(),
      undo: maybe { $0.undoGroup() }, undoes: revision(), redoes: revision(), deletion: revision(),
      overwrittenValues: list {
        .init(value: $0.value(), revision: $0.integer(), time: $0.integer(), author: $0.string())
      })
    origin.isReplacedKnown = bool()
    return origin
  }

  mutating func fromHistory() -> [ToClient.Body] {
    [
      .why(origin()),
      .followed(list { $0.entry() }, at: token(), head: token(), damage: damage()),
      .differences(
        list {
          ObjectDifference(
            kind: $0.random.pick([.inserted, .updated, .deleted]) ?? .inserted, object: $0.object(),
            properties: $0.list { .init($0.number(), was: $0.value()) })
        }, last: bool(), damage: damage()),
    ]
  }

  private mutating func filter() -> HistoryFilter {
    HistoryFilter(
      authors: list { $0.string() }, entities: list { $0.number() }, object: string(), since: revision(),
      until: revision())
  }

  /// Zero says that there is none.
  private mutating func revision() -> Int64? { maybe { $0.integer() }.flatMap { $0 == 0 ? nil : $0 } }
}
