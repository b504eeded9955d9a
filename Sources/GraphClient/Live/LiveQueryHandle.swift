// Tests: LiveQueryTests.swift
import GraphModel
import GraphReplica

/// A live query of a client's context, for callers that read the result from the context themselves.
///
/// The query ends with `close`, or when the handle is released. The changes that observers of the context receive say
/// what has happened to it.
public final class LiveQueryHandle {
  /// The query's number in `ObjectsDidChange` and in the calls of the context.
  package let id: QueryID
  private let client: GraphClient
  private var isOpen = true

  init(_ id: QueryID, of client: GraphClient) { (self.id, self.client) = (id, client) }

  // The handle may be released in the middle of a call on the client.
  deinit {
    if isOpen { client.mailbox.post { [id] in $0.unfollow(id) } }
  }

  /// Ends the query. Its objects live as long as the program holds them.
  public func close() {
    if !isOpen { return }
    isOpen = false
    client.unfollow(id)
  }

  /// The current objects, in the given order.
  public func objects<Object: ManagedObject>(
    as type: Object.Type, sort: [(ObjectPath<Object, ExactlyOne>) -> any SortOrderKey] = []
  ) -> [Object] {
    client.context.result(of: id, sort: [SortKey](type, by: sort)).compactMap { $0 as? Object }
  }

  /// The current objects of an entity that is known only at run time, in the given order.
  public func objects(sort: [SortKey] = []) -> [ManagedObject] { client.context.result(of: id, sort: sort) }

  /// The visible rows of a window; nil for a query without one.
  public var window: QueryWindow? { client.context.window(of: id) }

  /// Moves a window to another part of its query. Observers of the context receive the difference when the rows have
  /// arrived.
  /// - Parameter limit: nil leaves it as it is.
  public func moveWindow(offset: Int, limit: Int? = nil) {
    client.moveWindow(of: id, offset: offset, limit: limit)
  }
}

/// The effects of a change on a live query of this client.
extension ObjectsDidChange {
  /// Whether the result of the query has changed.
  public func affects(_ query: LiveQueryHandle) -> Bool { queries.contains(query.id) }

  /// Whether the result was loaded again: the lists of objects do not describe its membership.
  public func isReload(of query: LiveQueryHandle) -> Bool { loaded.contains(query.id) }

  /// The row changes of a window; nil if there are none.
  public func difference(of query: LiveQueryHandle) -> WindowDifference? { windows[query.id] }

  /// Why the server has refused the query or stopped following it; nil if it has not. Its result is removed.
  public func refusal(of query: LiveQueryHandle) -> Refusal? { refused[query.id] }
}
