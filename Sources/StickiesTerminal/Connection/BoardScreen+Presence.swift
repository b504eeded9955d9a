import GraphModel
import TerminalApplication
import TerminalCells

/// Presence: sent to other clients at a limited rate, received from them, never stored.
extension BoardScreen {
  /// Minimum time between two presence messages, in milliseconds.
  static let presenceMilliseconds: Int64 = 100

  /// Handles the presence of another session.
  func take(_ state: [UInt8]?, of session: UInt64, _ author: String) {
    let presence = state.flatMap {
      BoardPresence($0, boards: pages.page.board.id.entity, notes: context.model.entity(named: "Note")?.number ?? 0)
    }
    // A new session has not received our presence, so it is sent again.
    if neighbors.take(presence, of: session, author, hasLeft: state == nil) { shown = nil }
    if let own = link.session() { ownColor.giveWay(to: neighbors.all, session: own) }
    application.setNeedsDisplay()
  }

  /// Sends this client's presence if it has changed.
  func present() {
    whereabouts.look(at: pages.page.windows.focus)
    guard connection.state.isConnected else { return }
    let place = presencePlace
    let edited = editing.flatMap { $0.id.isTemporary ? nil : $0.id }
    let presence = BoardPresence(
      board: pages.page.board.id, x: place?.x, y: place?.y, editing: edited, color: ownColor.number)
    guard presence != shown else { return }
    let due = lastPresence.map { $0 + Self.presenceMilliseconds } ?? .min
    guard due <= now else {
      guard presenceTimer == nil else { return }
      presenceTimer = application.schedule(at: due) { [weak self] in
        self?.presenceTimer = nil
        self?.present()
      }
      return
    }
    (shown, lastPresence) = (presence, now)
    link.present(presence.bytes)
  }

  /// The position of the user in points of the board. It is under the mouse, or beside the note focused by keys, so
  /// that the cursor does not cover it.
  private var presencePlace: (x: Double, y: Double)? {
    guard let id = whereabouts.note else { return whereabouts.mouse.map(viewport.onBoard) }
    return pages.page.shape(of: id).map { ($0.x + $0.width, $0.y) }
  }

  func person(_ neighbor: PeerSessions.Peer) -> Person {
    Person(neighbor.author.split(separator: "@").first.map(String.init) ?? neighbor.author, color: neighbor.color)
  }

  /// The other users who edit a note.
  func editors(of id: ObjectID) -> [Person] {
    neighbors.all.filter { $0.presence?.editing == id }.map(person)
  }

  /// The cursors of other users on this board.
  var pointers: [PointerState] {
    neighbors.all.compactMap { neighbor in
      guard let presence = neighbor.presence, presence.board == pages.page.board.id, let x = presence.x,
        let y = presence.y
      else { return nil }
      return PointerState(person(neighbor), at: BoardScale.cells(x: x, y: y, width: 0, height: 0).origin)
    }
  }
}
