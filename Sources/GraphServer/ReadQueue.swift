import GraphHub

/// Which read a free thread takes next: reads go in, those to start come out.
///
/// A read waits with its session, behind that session's earlier ones. A free thread goes to the session that runs the
/// fewest, in turn among equals, and no session runs more than its share: whoever asks for little is not held up by one
/// that asks for much, however long its reads take. A session is known here while it has a read that waits or runs.
///
/// One thread of several is kept for short reads, so that many sessions can't have them all: when the others are busy it
/// tries a read of a session that runs none. A read that has to give way to another comes back as a long one, to the
/// front of its session's line, and waits for one of the others; so do all of its session until it is answered. As long as
/// no short read waits, the kept thread is lent to a long one, which begins anew and gives way at once.
struct ReadQueue {
  enum Event {
    /// `isLong`: it is not tried.
    case came(Ticket, from: SessionID, isLong: Bool = false)
    /// Nobody wants it any more. One that runs keeps its thread until it has ended.
    case left(Ticket)
    /// Its thread is free.
    case ended(Ticket)
    /// It gave way, and is not answered: its thread is free, and it waits again.
    case tookTooLong(Ticket)
    /// As before, and its answer is too large to be held back until it is whole: it is not tried again.
    case isTooLarge(Ticket)
  }

  /// A read to begin, on a thread of its own.
  struct Start: Equatable {
    let ticket: Ticket
    /// On the kept thread: until it has to give way.
    let isTrial: Bool
    /// A long one that the kept thread is lent to: it gives way at once.
    var isGuest = false
  }

  private struct Line {
    var waiting = [Ticket]()
    var running = 0
    /// Of those that wait or run, the ones that were not answered within a trial, or are not tried.
    var long = Set<Ticket>()
    /// Of the long ones, those that the kept thread is not lent to: they can't be ended in the middle.
    var fixed = Set<Ticket>()

    mutating func forget(_ ticket: Ticket) {
      long.remove(ticket)
      fixed.remove(ticket)
    }
  }

  /// Reads that one session runs at once: half of the threads, at least one.
  let share: Int
  private var free: Int
  private var keptIsFree: Bool
  private var lines = [SessionID: Line]()
  /// Sessions with reads that wait; who is first had its last turn the longest ago.
  private var turns = [SessionID]()
  /// Whose each read is that waits or runs.
  private var owners = [Ticket: SessionID]()
  /// The read on the kept thread.
  private var tried: Ticket?

  /// Whether the read on the kept thread keeps another one waiting that could be tried there.
  var mustGiveWay: Bool { tried != nil && turns.contains(where: mayBeTried) }

  init(threads: Int) {
    // A single thread is everybody's.
    keptIsFree = threads > 1
    free = threads > 1 ? threads - 1 : threads
    share = max(1, threads / 2)
  }

  /// The reads to start now, each on a thread of its own.
  mutating func handle(_ event: Event) -> [Start] {
    switch event {
    case .came(let ticket, let session, let isLong):
      owners[ticket] = session
      lines[session, default: Line()].waiting.append(ticket)
      if isLong {
        lines[session]?.long.insert(ticket)
        lines[session]?.fixed.insert(ticket)
      }
      if lines[session]?.waiting.count == 1 { turns.append(session) }
    case .left(let ticket):
      guard let session = owners[ticket], let place = lines[session]?.waiting.firstIndex(of: ticket) else { break }
      owners[ticket] = nil
      lines[session]?.waiting.remove(at: place)
      lines[session]?.forget(ticket)
      if lines[session]?.waiting.isEmpty == true { turns.removeAll { $0 == session } }
      forget(session)
    case .ended(let ticket): end(ticket)
    case .tookTooLong(let ticket): putBack(ticket, isFixed: false)
    case .isTooLarge(let ticket): putBack(ticket, isFixed: true)
    }
    var started = [Start]()
    while free > 0, let session = fewest() {
      free -= 1
      if let ticket = start(session) { started.append(Start(ticket: ticket, isTrial: false)) }
    }
    if keptIsFree, let session = turns.first(where: mayBeTried), let ticket = start(session) {
      (keptIsFree, tried) = (false, ticket)
      started.append(Start(ticket: ticket, isTrial: true))
    }
    if keptIsFree, let session = turns.first(where: mayBeGuest), let ticket = start(session) {
      (keptIsFree, tried) = (false, ticket)
      started.append(Start(ticket: ticket, isTrial: true, isGuest: true))
    }
    return started
  }

  private mutating func putBack(_ ticket: Ticket, isFixed: Bool) {
    guard tried == ticket, let session = owners[ticket] else { return end(ticket) }
    end(ticket)
    owners[ticket] = session
    lines[session, default: Line()].waiting.insert(ticket, at: 0)
    lines[session]?.long.insert(ticket)
    if isFixed { lines[session]?.fixed.insert(ticket) }
    if lines[session]?.waiting.count == 1 { turns.append(session) }
  }

  private mutating func end(_ ticket: Ticket) {
    guard let session = owners.removeValue(forKey: ticket) else { return }
    lines[session]?.running -= 1
    lines[session]?.forget(ticket)
    if tried == ticket { (keptIsFree, tried) = (true, nil) } else { free += 1 }
    forget(session)
  }

  private func mayBeTried(_ session: SessionID) -> Bool {
    lines[session].map { $0.running == 0 && $0.long.isEmpty } ?? false
  }

  /// Its first read is one that was tried.
  private func mayBeGuest(_ session: SessionID) -> Bool {
    guard let line = lines[session], line.running == 0, let first = line.waiting.first else { return false }
    return line.long.contains(first) && !line.fixed.contains(first)
  }

  private func fewest() -> SessionID? {
    var chosen: (session: SessionID, running: Int)?
    for session in turns {
      let running = lines[session]?.running ?? 0
      guard running < share, running < chosen?.running ?? .max else { continue }
      chosen = (session, running)
      if running == 0 { break }
    }
    return chosen?.session
  }

  /// The session has had its turn.
  private mutating func start(_ session: SessionID) -> Ticket? {
    turns.removeAll { $0 == session }
    guard var line = lines[session], !line.waiting.isEmpty else { return nil }
    let ticket = line.waiting.removeFirst()
    line.running += 1
    lines[session] = line
    if !line.waiting.isEmpty { turns.append(session) }
    return ticket
  }

  private mutating func forget(_ session: SessionID) {
    guard let line = lines[session], line.running == 0, line.waiting.isEmpty else { return }
    lines[session] = nil
  }
}
