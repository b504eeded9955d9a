import GraphHub

/// Which read a free thread takes next: reads go in, those to start come out.
///
/// A read waits with its session, behind that session's earlier ones. A free thread goes to the session that runs the
/// fewest, in turn among equals, and no session runs more than its share: whoever asks for little is not held up by one
/// that asks for much, however long its reads take. A session is known here while it has a read that waits or runs.
struct ReadQueue {
  enum Event {
    case came(Ticket, from: SessionID)
    /// Nobody wants it any more. One that runs keeps its thread until it has ended.
    case left(Ticket)
    /// Its thread is free.
    case ended(Ticket)
  }

  private struct Line {
    var waiting = [Ticket]()
    var running = 0
  }

  /// Reads that one session runs at once: half of the threads, at least one.
  let share: Int
  private var free: Int
  private var lines = [SessionID: Line]()
  /// Sessions with reads that wait; who is first had its last turn the longest ago.
  private var turns = [SessionID]()
  /// Whose each read is that waits or runs.
  private var owners = [Ticket: SessionID]()

  init(threads: Int) {
    free = threads
    share = max(1, threads / 2)
  }

  /// The reads to start now, each on a thread of its own.
  mutating func handle(_ event: Event) -> [Ticket] {
    switch event {
    case .came(let ticket, let session):
      owners[ticket] = session
      lines[session, default: Line()].waiting.append(ticket)
      if lines[session]?.waiting.count == 1 { turns.append(session) }
    case .left(let ticket):
      guard let session = owners[ticket], let place = lines[session]?.waiting.firstIndex(of: ticket) else { break }
      owners[ticket] = nil
      lines[session]?.waiting.remove(at: place)
      if lines[session]?.waiting.isEmpty == true { turns.removeAll { $0 == session } }
      forget(session)
    case .ended(let ticket):
      guard let session = owners.removeValue(forKey: ticket) else { break }
      lines[session]?.running -= 1
      free += 1
      forget(session)
    }
    var started = [Ticket]()
    while free > 0, let ticket = next() { started.append(ticket) }
    return started
  }

  private mutating func next() -> Ticket? {
    var chosen: (place: Int, running: Int)?
    for (place, session) in turns.enumerated() {
      let running = lines[session]?.running ?? 0
      guard running < share, running < chosen?.running ?? .max else { continue }
      chosen = (place, running)
      if running == 0 { break }
    }
    guard let chosen else { return nil }
    let session = turns.remove(at: chosen.place)
    guard var line = lines[session], !line.waiting.isEmpty else { return nil }
    let ticket = line.waiting.removeFirst()
    line.running += 1
    lines[session] = line
    free -= 1
    if !line.waiting.isEmpty { turns.append(session) }
    return ticket
  }

  private mutating func forget(_ session: SessionID) {
    guard let line = lines[session], line.running == 0, line.waiting.isEmpty else { return }
    lines[session] = nil
  }
}
