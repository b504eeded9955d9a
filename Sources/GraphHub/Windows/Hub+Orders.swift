// Tests: WindowTests.swift
import GraphModel
import GraphWire

/// The lifetime of orders: create, read, invalidate, reload and remove.
extension Hub {
  mutating func makeOrder(_ key: SortedResultTable.Key, for session: Session, _ actions: inout [HubAction]) -> UInt64 {
    let number = queries.add(key.query)
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
    actions.append(.collect(ticket, fetch, session: session.id))
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

  mutating func collected(_ number: UInt64, _ images: [ObjectImage], _ actions: inout [HubAction]) {
    orders.update(number, maximumRows: limits.orderRows) { $0.append(images) }
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
    // The order may have been evicted.
    guard let entry = orders[number] else { return }
    guard entry.deferred.isEmpty else { return actions.append(.continueOrder(ticket)) }
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
    for number in orders.oversized {
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
    // The end of another order may have evicted this one.
    guard let entry = orders[number] else { return }
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
