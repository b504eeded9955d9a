import GraphModel
import GraphReplica

/// The rows of a live query, or of a window of one, with committed values, without unsaved edits.
///
/// It keeps a row for each object of the query and updates those that a commit touches. Rows whose position depends
/// on other objects (`manager.name`) are found through the recorded reads. An order over the members of a to-many
/// re-evaluates all rows with each commit; a derived attribute avoids that.
///
/// A source of complete objects holds a change back until the relationships that the query prefetches have been loaded
/// for its objects and for the rows that are shown. That takes one request, or until the next connection; other queries
/// go on. Later changes wait behind it, so that the order of commits is kept. If rows change faster than a request is
/// answered, at most `maximumHeld` changes wait: then all are shown, and the relationships follow.
///
/// If the request is refused, the query fails, unless the refusal is temporary and a result was shown: a server that
/// ends reads, because the user's roles have changed, sends the result again.
public final class LiveQuerySource: ResultsSource {
  /// The maximum number of changes that wait for the relationships of their objects.
  static let maximumHeld = 64

  public let order: ResultsOrder
  /// The context that contains the objects.
  public let context: ObjectContext
  /// The live query; nil unless the source is running: before `start`, after `stop` and after a failure.
  package private(set) var query: QueryID?

  private var request: ResultsRequest
  private var receive: ((ResultsEvent) -> Void)?
  private var token: ObservationToken?
  /// Changes that arrived before the query's number was known: an owner may answer while `follow` runs.
  private var earlyChanges = [ObjectsDidChange]()
  /// Whether rows are shown only with the relationships that the query prefetches.
  private let showsCompleteObjects: Bool
  /// Changes that are not shown yet, oldest first; empty unless objects have to be complete.
  private var heldChanges = [HeldChange]()
  /// Whether incomplete rows are shown, because too many changes waited.
  private var showsIncompleteRows = false
  private var hasShownResult = false
  private var rows = [ObjectID: ResultsRow]()
  private var snapshot: ResultsSnapshot
  /// The number of rows in the complete result, as of the shown change; nil without a window.
  private var windowTotal: Int?
  private var dependencies = RowDependencyIndex()

  /// A change that is not shown yet.
  private struct HeldChange {
    let change: ObjectsDidChange
    /// The number of rows in the complete result after it; nil without a window.
    let total: Int?
  }

  /// Creates a source that subscribes to its own live query.
  public convenience init(_ request: ResultsRequest, in context: ObjectContext) {
    self.init(request, in: context, showsCompleteObjects: false)
  }

  /// Creates a source that subscribes to its own live query.
  /// - Parameter showsCompleteObjects: whether it holds back rows until the relationships of the request's `prefetch`
  ///   have been loaded. Otherwise they follow as changes of their own.
  package init(_ request: ResultsRequest, in context: ObjectContext, showsCompleteObjects: Bool) {
    self.request = request
    self.context = context
    self.showsCompleteObjects = showsCompleteObjects && !request.prefetch.isEmpty
    order = request.order(in: context.model)
    snapshot = ResultsSnapshot(awaiting: order)
  }

  public var totalCount: Int { windowTotal ?? snapshot.count }

  public var offset: Int { if let window { window.offset } else { 0 } }

  private var window: (offset: Int, limit: Int, total: Int)? { query.flatMap { context.windowPlace(of: $0) } }

  public func row(of id: ObjectID) -> ResultsRow? { rows[id] }

  public func start(_ receive: @escaping (ResultsEvent) -> Void) {
    guard query == nil else { return }
    self.receive = receive
    hasShownResult = false
    guard let entity = context.model.entity(request.entity) else {
      return receive(.failed(Refusal(.malformed, "the model has no entity \(request.entity)")))
    }
    token = context.observe { [weak self] change in self?.receive(change) }
    if let window = request.window {
      query = context.follow(
        entity: entity, predicate: request.predicate, sort: request.sort, offset: window.offset, limit: window.limit,
        prefetch: request.prefetch)
    } else {
      query = context.follow(
        entity: entity, predicate: request.predicate, prefetch: request.prefetch, atMost: request.maximumCount)
    }
    if showsCompleteObjects, let query { context.awaitPrefetches(of: query) }
    let changes = earlyChanges
    earlyChanges = []
    for change in changes { self.receive(change) }
  }

  public func move(to window: ResultsWindow) {
    guard request.window != nil, request.window != window else { return }
    request.window = window
    guard let query else { return }
    context.moveWindow(of: query, offset: window.offset, limit: window.limit)
  }

  public func stop() {
    token = nil
    receive = nil
    heldChanges = []
    guard let query else { return }
    self.query = nil
    context.unfollow(query)
  }

  // MARK: - Changes

  private func receive(_ change: ObjectsDidChange) {
    guard let query else {
      if token != nil { earlyChanges.append(change) }
      return
    }
    if let refusal = change.refused[query] {
      self.query = nil
      token = nil
      heldChanges = []
      receive?(.failed(refusal))
    } else if let refusal = change.failedPrefetches[query], !hasShownResult || refusal.code != .unavailable {
      fail(refusal)
    } else if !showsCompleteObjects {
      show(HeldChange(change: change, total: window?.total), of: query)
    } else {
      // A new result has the changes before it.
      if change.loaded.contains(query) { heldChanges = [] }
      if change.loaded.contains(query) || change.queries.contains(query) || order.reachesOthers {
        heldChanges.append(HeldChange(change: change, total: window?.total))
      }
      showCompleteChanges(of: query)
      // Readers that wait for complete rows ask again. No row may be touched: the last load of a resumed query.
      if self.query == query, change.prefetched.contains(query), hasShownResult {
        receive?(.changed(ResultsCommit(snapshot: snapshot, touched: [])))
      }
    }
  }

  /// Shows the oldest changes whose objects, and all rows, are complete; all of them if too many wait.
  private func showCompleteChanges(of query: QueryID) {
    let isFull = heldChanges.count > Self.maximumHeld
    showsIncompleteRows = isFull || (showsIncompleteRows && context.awaitsPrefetch(of: query) { rows[$0] != nil })
    // A receiver may stop the source.
    while self.query == query, let held = heldChanges.first, isFull || isComplete(held.change, of: query) {
      heldChanges.removeFirst()
      show(held, of: query)
    }
  }

  /// Whether the objects of all rows are complete now, or too many changes have waited for them. A commit that has not
  /// been shown may have changed one of them.
  package var isComplete: Bool {
    guard showsCompleteObjects, !showsIncompleteRows, let query else { return true }
    return !context.awaitsPrefetch(of: query) { rows[$0] != nil }
  }

  private func isComplete(_ change: ObjectsDidChange, of query: QueryID) -> Bool {
    let (isReload, objects) = (change.loaded.contains(query), change.objects)
    return !context.awaitsPrefetch(of: query) { id in isReload || rows[id] != nil || objects.contains(id) }
  }

  private func show(_ held: HeldChange, of query: QueryID) {
    let change = held.change
    let isCounted = windowTotal == held.total
    windowTotal = held.total
    if change.loaded.contains(query) {
      hasShownResult = true
      reload(query, change)
    } else if change.queries.contains(query) || order.reachesOthers {
      apply(change, to: query, isCounted: isCounted)
    }
  }

  /// Rebuilds all rows, because a load does not report which objects are new.
  private func reload(_ query: QueryID, _ change: ObjectsDidChange) {
    let old = rows
    rows = [:]
    dependencies = RowDependencyIndex()
    let source = context.storedObjects
    for (id, image) in context.storedResult(of: query) { rows[id] = row(image, over: old[id], in: source) }
    snapshot = ResultsSnapshot(rows.values, order: order, revision: change.loadedRevision)
    var touched = rows.map { id, row in ResultsRowChange(before: old[id], after: row) }
    for (id, row) in old where rows[id] == nil { touched.append(ResultsRowChange(before: row, after: nil)) }
    receive?(.changed(ResultsCommit(snapshot: snapshot, touched: touched)))
  }

  /// Applies a commit to the rows.
  /// - Parameter isCounted: whether the number of rows in the complete result is the same as before.
  private func apply(_ change: ObjectsDidChange, to query: QueryID, isCounted: Bool) {
    let own = change.objects
    var ids = own
    if order.reachesOthers { dependencies.dependents(of: own, among: rows.keys, into: &ids) }
    let source = context.storedObjects
    var touched = [ResultsRowChange]()
    for id in ids {
      let before = rows[id]
      let after = context.storedImage(id, in: query).map { row($0, over: before, in: source) }
      guard before != nil || after != nil, own.contains(id) || before !== after else { continue }
      rows[id] = after
      touched.append(
        ResultsRowChange(before: before, after: after, isChanged: own.contains(id), properties: change.updated[id]))
    }
    if touched.isEmpty, isCounted { return }
    reposition(touched)
    snapshot.revision = max(snapshot.revision, change.revision)
    var commit = ResultsCommit(snapshot: snapshot, touched: touched)
    (commit.revision, commit.author, commit.time) = (change.revision, change.author, change.time)
    receive?(.changed(commit))
    if request.window == nil, let most = request.maximumCount, rows.count > most { fail(Replica.tooMany(most)) }
  }

  /// Fails the query, and notifies the receiver before the objects are unloaded.
  private func fail(_ refusal: Refusal) {
    guard let query else { return }
    let notify = receive
    (self.query, token, receive, heldChanges) = (nil, nil, nil, [])
    notify?(.failed(refusal))
    context.unfollow(query)
  }

  private func reposition(_ touched: [ResultsRowChange]) {
    // For many touched rows, sorting all rows is faster than inserting one by one.
    guard touched.count < 64 || touched.count < rows.count / 16 else {
      return snapshot = ResultsSnapshot(rows.values, order: order, revision: snapshot.revision)
    }
    for touch in touched where touch.before !== touch.after { touch.before.map { snapshot.remove($0) } }
    for touch in touched where touch.before !== touch.after { touch.after.map { snapshot.insert($0) } }
  }

  /// Returns the existing row if the object has kept its position, otherwise a new one.
  private func row(_ image: ObjectImage, over old: ResultsRow?, in source: any ImageSource) -> ResultsRow {
    let row =
      order.reachesOthers ? dependencies.row(image, order, in: source) : order.row(image, in: source)
    if let old, order.isSamePlace(old, row) { return old }
    return row
  }
}

extension ObjectsDidChange {
  /// All objects of the change.
  fileprivate var objects: Set<ObjectID> {
    Set(inserted + refreshed + deleted + departed).union(updated.keys)
  }
}

/// Maps objects to the rows whose position depends on them. Filled when a row is made and read when objects change.
/// An outdated entry stays until the next load and only causes an unneeded evaluation.
private struct RowDependencyIndex {
  private var dependents = [ObjectID: Set<ObjectID>]()
  /// Whether a row counted or read the members of a to-many. Any object may have become a member.
  private var readsMembers = false

  mutating func row(_ image: ObjectImage, _ order: ResultsOrder, in source: any ImageSource) -> ResultsRow {
    let recorder = ReadRecorder(source)
    let row = order.row(image, in: recorder)
    for id in recorder.read where id != image.id { dependents[id, default: []].insert(image.id) }
    readsMembers = readsMembers || recorder.readsMembers
    return row
  }

  func dependents(of ids: Set<ObjectID>, among rows: some Sequence<ObjectID>, into found: inout Set<ObjectID>) {
    if readsMembers { return found.formUnion(rows) }
    for id in ids { if let others = dependents[id] { found.formUnion(others) } }
  }
}

private final class ReadRecorder: ImageSource {
  private let source: any ImageSource
  private(set) var read = [ObjectID]()
  private(set) var readsMembers = false

  init(_ source: any ImageSource) { self.source = source }

  func image(of id: ObjectID) -> ObjectImage? {
    read.append(id)
    return source.image(of: id)
  }

  func referrers(to id: ObjectID, through property: Property) -> [ObjectID] {
    readsMembers = true
    return source.referrers(to: id, through: property)
  }
}
