// Tests: WindowTests.swift
import GraphModel
import GraphWire

/// Requests for windows, and the messages to their readers.
///
/// A window is a live query like any other: it has a number and readers, and its deltas are encoded once and kept in
/// the ring. Only the source of its results is different. A delta is a commit's effect on the order, restricted to the
/// window (`SortedResultTransition`). The first result also comes from the order, in one piece, once the order is ready
/// and the session's backlog has space.
extension Hub {
  // MARK: - Requests

  /// Registers the session as a reader of a window, and creates the window's order if there is none.
  mutating func register(
    _ query: LiveQuery, _ range: WindowRange, _ sort: [SortKey], for session: Session, _ actions: inout [HubAction]
  ) -> UInt64 {
    var base = query
    base.wholeObjects = false
    let key = SortedResultTable.Key(query: base, sort: sort, visibility: session.visibility)
    let order = orders[key] ?? makeOrder(key, for: session, &actions)
    let window = WindowKey(
      order: order, range: range, wholeObjects: query.wholeObjects, lens: session.lens)
    let number = queries.register(window, of: query, for: session.id)
    orders.add(window, number: number)
    return number
  }

  /// Removes the session from the readers of a query. An order without windows is kept for a while.
  mutating func unregister(_ number: UInt64, _ session: Session, _ actions: inout [HubAction]) {
    let window = queries[number]?.window
    session.user?.unfollow(number, of: session.id)
    queries.unregister(number, for: session.id)
    // Otherwise the window has other readers, or the order has other windows or was ended.
    if let window, queries[number] == nil, orders.remove(window: number, of: window.order, at: now) {
      keepIdle(window.order, &actions)
    }
  }

  /// Keeps an order without windows, unless it is being read, and evicts the oldest of those.
  private mutating func keepIdle(_ order: UInt64, _ actions: inout [HubAction]) {
    if orders[order]?.isLoading == true { return removeOrder(order, &actions) }
    let idle = orders.idle
    for number in idle.prefix(max(0, idle.count - limits.idleOrders)) { removeOrder(number, &actions) }
  }

  mutating func moveWindow(
    _ query: UInt64, _ offset: UInt64, _ limit: UInt64, _ session: Session, _ request: UInt64,
    _ actions: inout [HubAction]
  ) throws {
    guard let reader = session.readers[query], let entry = queries[query],
      let old = entry.window
    else { throw Refusal(.notFound, "this connection follows no window \(query)") }
    let range = try resolver.range(offset, limit)
    // The new window comes first, so that the order is not removed with the old one.
    let window = WindowKey(order: old.order, range: range, wholeObjects: old.wholeObjects, lens: old.lens)
    let number = queries.register(window, of: entry.query, for: session.id)
    orders.add(window, number: number)
    session.access.assign(number)
    session.user?.follow(number, of: session.id, steps: entry.query.predicate.evaluationSteps)
    drop(query, session, &actions)
    // A difference is enough for a client that is up to date and holds the rows of the old window.
    if case .live = reader.state, case .current = session.progress, session.pendingAdvance == nil,
      reader.through <= head.revision, let rows = rows(of: old.order), rows.at.revision == head.revision
    {
      let known = Set(rows.order.ids(in: old.range.positions))
      let images = rows.order.images(in: range.positions)
      let moved = WindowMoved(
        query: number, rows: images.map(\.id), objects: images.filter { !known.contains($0.id) },
        total: UInt64(rows.order.count), at: head)
      let message = ToClient(request, .windowMoved(moved))
      let frame = Frame.encode(window.lens?.downgraded(message) ?? message)
      if frame.count <= limits.windowBytes, sender.fits(frame.count, for: session) {
        session.readers[number] = Session.Subscription(state: .live, through: head.revision, request: request)
        return sender.sendFrame(frame + advanceFrame(head.revision, head.fingerprint), to: session, &actions)
      }
    }
    loadWindow(number, session, request, known: true, &actions)
  }

  // MARK: - First results

  mutating func loadWindow(
    _ query: UInt64, _ session: Session, _ request: UInt64, known: Bool, _ actions: inout [HubAction]
  ) {
    session.readers[query] = Session.Subscription(state: .waiting, through: .max, request: request)
    sender.send(ToClient(request, .subscribed(query: query, resumed: false, known: known)), to: session, &actions)
    serveWindows(session, &actions)
  }

  /// Sends the first results that the session waits for, if their orders are ready and the backlog has space.
  mutating func serveWindows(_ session: Session, _ actions: inout [HubAction]) {
    // Each delta that a socket has written comes here, and most sessions wait for nothing.
    if !session.waitsForWindow { return }
    for (number, reader) in session.readers.sorted(by: { $0.key < $1.key }) {
      guard case .waiting = reader.state, let window = queries[number]?.window, let rows = rows(of: window.order)
      else { continue }
      let images = rows.order.images(in: window.range.positions)
      var encoder = ChunkEncoder(request: reader.request)
      var frames = [UInt8]()
      for image in images {
        let translated = window.lens.map { $0.downgraded(image) } ?? image
        if let translated, let frame = encoder.append(translated) { frames += frame }
        if frames.count > limits.windowBytes { break }
      }
      guard frames.count <= limits.windowBytes else {
        drop(number, session, &actions)
        let refusal = Refusal(
          .limit,
          "the rows of the window have more than \(limits.windowBytes) bytes: ask for fewer than \(images.count)")
        sender.refuse(reader.request, refusal, session, &actions)
        continue
      }
      let damage = window.lens.map { $0.downgraded(rows.damage) } ?? rows.damage
      frames += encoder.finish(at: rows.at, total: UInt64(rows.order.count), damage: damage)
      let isServedAfterBacklog = session.backlog > 0 && !sender.fits(frames.count, for: session)
      if isServedAfterBacklog { return }
      session.readers[number] = Session.Subscription(
        state: .live, through: rows.at.revision, request: reader.request)
      sender.sendFrame(frames, to: session, &actions)
      showWhenReached(number, session, rows.at.revision, &actions)
    }
  }

  /// The rows of an order that is ready, with their state.
  private func rows(of order: UInt64) -> (order: SortedResult, damage: DamageNotice, at: Token)? {
    guard let entry = orders[order], case .ready(let at) = entry.state else { return nil }
    return (entry.rows, entry.damage, at.revision > head.revision ? at : head)
  }

  // MARK: - Commits

  /// Applies a commit to an order and returns the deltas of the order's windows.
  mutating func windowFrames(
    of changes: [LiveQueryChange], to number: UInt64, _ record: CommitRecord
  ) -> [(number: UInt64, frame: [UInt8])] {
    switch orders.state(of: number) {
    case .loading?, .carrying?:
      orders.deferChanges(changes, of: record.revision, for: number, atMost: limits.historyChanges)
      return []
    // The read already included the commit.
    case .ready(let at)? where at.revision >= record.revision: return []
    case .ready?: break
    case nil:
      assertionFailure("the changes of an order come while it exists")
      return []
    }
    let windows = orders.windows(of: number)
    let ranges = Set(windows.map(\.key.range)).sorted()
    let step = step(changes, on: number, ranges)
    guard let step, let rows = orders[number]?.rows else {
      assertionFailure("an order that is ready has rows")
      return []
    }
    return windows.compactMap { window, key in
      guard let visible = step.changes(of: key.range, in: rows, wholeObjects: key.wholeObjects) else { return nil }
      var changes = forgetsRemovals ? visible.changes.filter { $0.kind != .removed } : visible.changes
      if let lens = key.lens { changes = changes.compactMap { lens.downgraded($0) } }
      if changes.isEmpty, visible.total == nil { return nil }
      let delta = Delta(query: window, commit: record, changes: changes, total: visible.total)
      return (window, Frame.encode(ToClient(0, .delta(delta))))
    }
  }

  private mutating func step(
    _ changes: [LiveQueryChange], on number: UInt64, _ ranges: [WindowRange]
  ) -> SortedResultTransition? {
    orders.update(number, maximumRows: limits.orderRows) { SortedResultTransition(changes, on: &$0, windows: ranges) }
  }
}

/// The lifetime of orders: create, read, invalidate, reload and remove.
extension Hub {
  mutating func makeOrder(_ key: SortedResultTable.Key, for session: Session, _ actions: inout [HubAction]) -> UInt64 {
    let number = queries.add(key.query, seenBy: key.visibility)
    // The writer's watch precedes the read, so that no commit falls between the two.
    sendWatches(&actions)
    let ticket = collect(number, key, for: session, &actions)
    let rows = SortedResult(order: SortOrder(key.sort, model: resolver.model))
    orders.insert(key, number: number, rows: rows, ticket: ticket, from: head.revision)
    return number
  }

  /// Requests the objects of an order with one statement, regardless of the number of windows.
  private mutating func collect(
    _ number: UInt64, _ key: SortedResultTable.Key, for session: Session, _ actions: inout [HubAction]
  ) -> StoreRequestID {
    let ticket = requests.issue(for: .order(number))
    var fetch = FetchRequest(entity: key.query.entity, predicate: key.query.predicate)
    // A runner that reads in this sort lets each object be appended without a search.
    fetch.sort = key.sort
    fetch.isUnordered = true
    fetch.omitsDamage = !fetch.predicate.namesObjects
    actions.append(.collect(ticket, fetch, seenBy: key.visibility, session: session.id))
    return ticket
  }

  mutating func removeOrder(_ number: UInt64, _ actions: inout [HubAction]) {
    guard let entry = orders.remove(number) else { return assertionFailure("an order is removed once") }
    if let ticket = entry.ticket { cancelCollecting(ticket, &actions) }
    queries.remove(number)
    discard(entry.rows, &actions)
  }

  private func discard(_ rows: SortedResult, _ actions: inout [HubAction]) {
    // Few rows are freed faster than they are passed to another thread.
    if rows.count >= limits.discardedRows { actions.append(.discard(DiscardedRows(rows))) }
  }

  /// Removes the orders that have had no windows for `idleOrderMilliseconds`.
  mutating func removeIdleOrders(_ actions: inout [HubAction]) {
    for number in orders.idle(since: now - limits.idleOrderMilliseconds) { removeOrder(number, &actions) }
  }

  private mutating func cancelCollecting(_ ticket: StoreRequestID, _ actions: inout [HubAction]) {
    // The ticket of a read that has ended is removed.
    if requests.remove(ticket) != nil { actions.append(.cancelRead(ticket)) }
  }

  // MARK: - Reading

  mutating func collected(_ number: UInt64, _ objects: [SortedObject], _ actions: inout [HubAction]) {
    orders.update(number, maximumRows: limits.orderRows) { $0.append(objects) }
    enforceMemoryLimit(&actions)
  }

  mutating func finishCollecting(
    _ number: UInt64, _ ticket: StoreRequestID, _ result: Result<Token, Refusal>, _ damage: DamageNotice,
    _ actions: inout [HubAction]
  ) {
    guard case .loading(ticket, let from)? = orders.state(of: number) else {
      return assertionFailure("an order is loading until its read ends")
    }
    switch result {
    case .failure(let refusal):
      requests.remove(ticket)
      endOrder(number, refusal, &actions)
    case .success(let at) where at.revision < from:
      requests.remove(ticket)
      reloadOrder(number, from: from, &actions)
    case .success(let at):
      orders.set(.carrying(ticket, at: at), of: number)
      orders.set(damage, of: number)
      carryOver(ticket, number, at, &actions)
    }
  }

  /// Continues to apply the commits that arrived while the order was read.
  mutating func continueOrder(_ number: UInt64, _ ticket: StoreRequestID, _ actions: inout [HubAction]) {
    switch orders.state(of: number) {
    case .carrying(_, let at)?: carryOver(ticket, number, at, &actions)
    case .loading(_, let from)?:
      // Meanwhile, a commit with an unknown effect on the order arrived.
      requests.remove(ticket)
      reloadOrder(number, from: from, &actions)
    case .ready?, nil: assertionFailure("only an order that is being filled continues")
    }
  }

  private mutating func carryOver(_ ticket: StoreRequestID, _ number: UInt64, _ at: Token, _ actions: inout [HubAction])
  {
    let deferred = orders.removeDeferred(of: number, atMost: limits.carriedChanges)
    orders.update(number, maximumRows: limits.orderRows) { rows in
      for (revision, changes) in deferred where revision > at.revision {
        for change in changes {
          if let image = change.currentImage { rows.insert(image) } else { rows.remove(change.id) }
        }
      }
    }
    enforceMemoryLimit(&actions)
    let wasEvicted = orders[number] == nil
    if wasEvicted { return }
    if orders[number]?.deferred.isEmpty == false { return actions.append(.continueOrder(ticket)) }
    requests.remove(ticket)
    orders.set(.ready(at), of: number)
    var served = [SessionID: Session]()
    for window in orders.windows(of: number) {
      for session in readers(of: window.number) { served[session.id] = session }
    }
    for session in served.values.inOrder() { serveWindows(session, &actions) }
  }

  private mutating func reloadOrder(_ number: UInt64, from: Revision, _ actions: inout [HubAction]) {
    guard let key = orders[number]?.key else { return assertionFailure("an order that is read again exists") }
    if let ticket = orders[number]?.ticket { cancelCollecting(ticket, &actions) }
    let first = orders.windows(of: number).compactMap { readers(of: $0.number).first }.first
    guard let first else { return removeOrder(number, &actions) }
    orders.discardDeferred(of: number)
    let empty = SortedResult(order: SortOrder(key.sort, model: resolver.model))
    let old = orders.update(number, maximumRows: limits.orderRows) { rows in
      defer { rows = empty }
      return rows
    }
    if let old { discard(old, &actions) }
    let ticket = collect(number, key, for: first, &actions)
    orders.set(.loading(ticket, from: from), of: number)
  }

  /// Reloads an order after a commit with an unknown effect, and collects its windows, whose readers must reload.
  mutating func invalidateOrder(
    _ number: UInt64, through revision: Revision, _ windows: inout Set<UInt64>, _ actions: inout [HubAction]
  ) {
    switch orders.state(of: number) {
    case .ready(let at)? where at.revision >= revision: return
    case .loading(let ticket, let from)?:
      // The read may already include the commit.
      orders.set(.loading(ticket, from: max(from, revision)), of: number)
    case .carrying(let ticket, let at)?:
      // The pending continuation reads the order again.
      if at.revision < revision { orders.set(.loading(ticket, from: revision), of: number) }
    case nil: assertionFailure("an order is reloaded while it exists")
    case .ready?:
      windows.formUnion(orders.windows(of: number).map(\.number))
      reloadOrder(number, from: revision, &actions)
    }
  }

  // MARK: - Memory

  /// Enforces the memory limits of the orders.
  ///
  /// Orders without windows are evicted first, then those being read, then the largest.
  mutating func enforceMemoryLimit(_ actions: inout [HubAction]) {
    // The end of one order may evict another one.
    for number in orders.oversized where orders[number] != nil {
      endOrder(number, .tooManyRows(limits.orderRows), &actions)
    }
    while orders.size > limits.orderBytes {
      if let idle = orders.idle.first {
        removeOrder(idle, &actions)
      } else if let largest = orders.largest {
        endOrder(largest, .tooLargeOrders(limits.orderBytes), &actions)
      } else {
        return assertionFailure("without orders, none takes memory")
      }
    }
  }

  /// Removes an order and sends its readers the refusal.
  private mutating func endOrder(_ number: UInt64, _ refusal: Refusal, _ actions: inout [HubAction]) {
    guard let entry = orders[number] else { return assertionFailure("an order that is ended exists") }
    removeOrder(number, &actions)
    for window in entry.windows.keys.sorted() {
      for session in readers(of: window) {
        guard let reader = session.readers[window] else {
          assertionFailure("a session knows the queries that it reads")
          continue
        }
        drop(window, session, &actions)
        sender.refuse(reader.request, refusal, session, &actions)
      }
    }
  }
}

extension Refusal {
  /// The refusal of an order with too many objects.
  public static func tooManyRows(_ maximum: Int) -> Refusal {
    Refusal(
      .limit,
      "the query of a window can have at most \(maximum) objects, and this one has more: narrow its predicate, or page "
        + "through it with a fetch")
  }

  /// The refusal when all orders together take too much memory.
  public static func tooLargeOrders(_ bytes: Int) -> Refusal {
    Refusal(
      .limit,
      "the queries of all windows need more than the \(bytes) bytes of memory that the server reserves for them: "
        + "narrow the predicate, or page through the query with a fetch")
  }
}
