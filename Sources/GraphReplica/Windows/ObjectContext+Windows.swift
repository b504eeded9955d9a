import GraphModel
import GraphWire

/// Windows of ordered live queries. A client reads only the rows that it shows, even of a very long list.
extension ObjectContext {
  /// Follows a part of a query's ordered result; it is empty until the first rows have arrived.
  /// - Parameters:
  ///   - sort: over the object's own properties; ids break ties.
  ///   - offset: the number of rows to skip.
  ///   - limit: the maximum number of rows, from 1 to 1,000.
  ///   - prefetching: relationships to load with its objects, and with those that join it later.
  public func follow(
    entity: Entity, predicate: GraphPredicate = .always, sort: [SortKey], offset: Int = 0, limit: Int,
    prefetching: RelationshipTree = .none
  ) -> QueryID {
    if let parent {
      return parent.follow(
        entity: entity, predicate: predicate, sort: sort, offset: offset, limit: limit, prefetching: prefetching)
    }
    lastQuery += 1
    if refusesEdit("nothing can be followed") { return lastQuery }
    results[lastQuery] = [:]
    windows[lastQuery] = WindowState()
    if !prefetching.isEmpty { loads.prefetches[lastQuery] = QueryPrefetch(tree: prefetching) }
    handle(
      .subscribe(
        lastQuery,
        Subscribe(
          entity: entity.number, predicate: predicate == .always ? "" : predicate.text(in: model),
          window: .init(sort: sort.text(in: model), offset: UInt64(max(0, offset)), limit: UInt64(max(0, limit))))))
    return lastQuery
  }

  /// Moves a window to another part of its query. The old rows stay visible until the new ones arrive; then observers
  /// receive the difference. Of several moves in a row the last one counts.
  /// - Parameter limit: nil leaves it as it is.
  public func moveWindow(of query: QueryID, offset: Int, limit: Int? = nil) {
    if let parent { return parent.moveWindow(of: query, offset: offset, limit: limit) }
    guard let window = replica.queries[query]?.subscribe.window else { return }
    let most = ProtocolLimits.maximumWindow
    handle(
      .moveWindow(
        query, offset: UInt64(max(0, offset)), limit: limit.map { UInt64(min(max(1, $0), most)) } ?? window.limit))
  }

  /// The visible rows of a window; nil for a query without one.
  public func window(of query: QueryID) -> QueryWindow? {
    if let parent {
      guard var window = parent.window(of: query) else { return nil }
      window.objects = window.objects.compactMap { fault($0.id) }
      return window
    }
    guard let held = windows[query] else { return nil }
    return QueryWindow(
      objects: held.rows.compactMap { results[query]?[$0].map { instance(of: $0) } }, offset: held.offset,
      limit: held.limit, total: held.total)
  }

  /// The place of a window, and its query's number of rows before limit and offset. Nil for a query without one.
  public func windowPlace(of query: QueryID) -> (offset: Int, limit: Int, total: Int)? {
    if let parent { return parent.windowPlace(of: query) }
    return windows[query].map { ($0.offset, $0.limit, $0.total) }
  }

  /// The ids of a window's rows as the server has them, in order.
  public func storedWindow(of query: QueryID) -> [ObjectID] {
    parent?.storedWindow(of: query) ?? windows[query]?.rows ?? []
  }

  func load(_ rows: WindowRows, into query: QueryID, at revision: Revision) {
    guard let old = windows[query] else { return }
    let news = Dictionary(rows.objects.map { ($0.id, $0) }) { first, _ in first }
    let images = rows.rows.compactMap { news[$0] ?? results[query]?[$0]?.stored }
    let updated = Set(images.filter { $0.revision != state($0.id)?.stored?.revision }.map(\.id))
    let total = Int(clamping: rows.total)
    windows[query] = WindowState(
      rows: images.map(\.id), offset: Int(clamping: rows.offset), limit: Int(clamping: rows.limit), total: total)
    load(
      images, into: query, at: revision,
      window: WindowDifference(
        from: old.rows, to: images.map(\.id), updated: updated, total: total == old.total ? nil : total))
  }
}

/// The visible rows of a window.
public struct QueryWindow {
  /// The rows, in order.
  public var objects: [ManagedObject]
  /// The number of rows before them.
  public var offset: Int
  /// The maximum number of rows.
  public var limit: Int
  /// The number of rows of the query before limit and offset, as for a scroll bar.
  public var total: Int

  /// The rows, in order, as objects of their class.
  public func objects<Object: ManagedObject>(as type: Object.Type) -> [Object] { objects.compactMap { $0 as? Object } }
}

/// The rows of a window, as the context holds them.
struct WindowState {
  var rows = [ObjectID]()
  var offset = 0
  var limit = 0
  var total = 0

  /// Applies one commit. Rows that left are removed, then those that came or moved are inserted, by ascending place.
  mutating func apply(_ changes: [Delta.Change], total: UInt64?) -> WindowDifference {
    let old = rows
    let gone = Set(changes.filter { $0.kind == .removed || $0.place != nil }.map(\.id))
    if !gone.isEmpty { rows.removeAll { gone.contains($0) } }
    let placed = changes.compactMap { change in change.place.map { (id: change.id, place: $0) } }
    for (id, place) in placed.sorted(by: { $0.place < $1.place }) {
      rows.insert(id, at: min(Int(clamping: place), rows.count))
    }
    if let total { self.total = Int(clamping: total) }
    let updated = Set(changes.filter { $0.kind == .updated }.map(\.id))
    return WindowDifference(from: old, to: rows, updated: updated, total: total.map { Int(clamping: $0) })
  }
}
