import GraphModel
import StickiesKit
import TerminalApplication
import TerminalCells

/// Presence: sent to other clients at a limited rate, received from them, never stored.
final class PresenceController: BoardPart {
  let services: BoardServices
  /// The position of the user: new notes are placed under the mouse, other clients see a cursor.
  var userPosition = UserPosition()
  /// The presence of the other clients.
  private(set) var neighbors = PeerSessions()
  /// The note that is edited here.
  var editedNote: () -> ObjectID? = { nil }
  private let connection: ConnectionMonitor
  private let pages: BoardPages
  private let viewport: BoardViewport
  private lazy var ownColor = PresenceColor(of: link.user)
  /// The presence last sent for this client.
  private var shown: BoardPresence?
  private var lastSent: Int64?
  private var timer: TimerID?

  init(
    _ services: BoardServices, _ connection: ConnectionMonitor, _ pages: BoardPages, _ viewport: BoardViewport
  ) {
    (self.services, self.connection, self.pages, self.viewport) = (services, connection, pages, viewport)
  }

  /// Forgets the other sessions: their numbers are only valid within one connection.
  func connectionDidChange() {
    neighbors.forget()
    shown = nil
  }

  /// Forgets the position on the previous board.
  func boardDidChange() { (userPosition, shown) = (UserPosition(), nil) }

  /// Minimum time between two presence messages, in milliseconds.
  static let intervalMilliseconds: Int64 = 100

  /// Handles the presence of another session.
  func receive(_ state: [UInt8]?, of session: UInt64, _ author: String) {
    let presence = state.flatMap {
      BoardPresence($0, boards: pages.page.board.id.entity, notes: context.model.builtIn(Note.self).number)
    }
    // A new session has not received our presence, so it is sent again.
    if neighbors.receive(presence, of: session, author, hasLeft: state == nil) { shown = nil }
    if let own = link.session() { ownColor.giveWay(to: neighbors.all, session: own) }
    application.setNeedsDisplay()
  }

  /// Sends this client's presence if it has changed.
  func update() {
    userPosition.look(at: pages.page.windows.focus)
    guard connection.state.isConnected else { return }
    let place = place
    let edited = editedNote().flatMap { $0.isTemporary ? nil : $0 }
    let presence = BoardPresence(
      board: pages.page.board.id, x: place?.x, y: place?.y, editing: edited, color: ownColor.number)
    guard presence != shown else { return }
    let due = lastSent.map { $0 + Self.intervalMilliseconds } ?? .min
    guard due <= now else {
      guard timer == nil else { return }
      timer = application.schedule(at: due) { [weak self] in
        guard let self else { return }
        timer = nil
        update()
      }
      return
    }
    (shown, lastSent) = (presence, now)
    link.present(presence.bytes)
  }

  /// The position of the user in points of the board. It is under the mouse, or beside the note focused by keys, so
  /// that the cursor does not cover it.
  private var place: (x: Double, y: Double)? {
    guard let id = userPosition.note else { return userPosition.mouse.map(viewport.onBoard) }
    return pages.page.shape(of: id).map { ($0.x + $0.width, $0.y) }
  }

  func person(_ neighbor: PeerSessions.Peer) -> DisplayedUser {
    DisplayedUser(
      neighbor.author.split(separator: "@").first.map(String.init) ?? neighbor.author, color: neighbor.color)
  }

  /// The other users who edit a note.
  func editors(of id: ObjectID) -> [DisplayedUser] {
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
