import GraphModel
import TerminalCells
import Testing

@testable import StickiesTerminal

@Suite struct PresenceTests {
  private let board = ObjectID(key: UniqueID(high: 1, low: 2), entity: 1)
  private let note = ObjectID(key: UniqueID(high: 3, low: 4), entity: 2)

  @Test func presenceRoundTrips() {
    let shown = BoardPresence(board: board, x: 12.5, y: -3, editing: note, color: 7)
    #expect(BoardPresence(shown.bytes, boards: 1, notes: 2) == shown)
    let still = BoardPresence(board: board)
    #expect(BoardPresence(still.bytes, boards: 1, notes: 2) == still)
    // A color that this program does not have counts as none.
    let odd = BoardPresence(board: board, color: 8)
    #expect(BoardPresence(odd.bytes, boards: 1, notes: 2) == still)
  }

  @Test(arguments: ["", "{}", "not JSON", #"{"v":2,"board":"x"}"#, #"{"v":1}"#, #"{"v":1,"board":7}"#])
  func unknownPresenceIsIgnored(_ text: String) {
    #expect(BoardPresence(Array(text.utf8), boards: 1, notes: 2) == nil)
  }

  @Test func joinsAreReportedOnceAndLeavesRemovePeer() {
    var neighbors = PeerSessions()
    let presence = BoardPresence(board: board)
    let isNew = neighbors.receive(presence, of: 7, "ann", hasLeft: false)
    let isStillNew = neighbors.receive(presence, of: 7, "ann", hasLeft: false)
    #expect(isNew && !isStillNew)
    let hasCome = neighbors.receive(nil, of: 7, "ann", hasLeft: true)
    #expect(!hasCome)
    #expect(neighbors.all.isEmpty)
  }
}

@Suite struct PresenceColorTests {
  private let board = ObjectID(key: UniqueID(high: 1, low: 2), entity: 1)

  private func neighbor(_ session: UInt64, _ color: Int?) -> PeerSessions.Peer {
    PeerSessions.Peer(session: session, author: "ann", presence: BoardPresence(board: board, color: color))
  }

  @Test func laterSessionChangesColor() {
    let first = PresenceColor(of: "ann").number
    var color = PresenceColor(of: "ann")
    color.giveWay(to: [neighbor(9, first)], session: 5)
    #expect(color.number == first)
    color.giveWay(to: [neighbor(9, first), neighbor(2, (first + 1) % 8)], session: 5)
    #expect(color.number == first)
    color.giveWay(to: [neighbor(3, first), neighbor(9, (first + 1) % 8)], session: 5)
    #expect(color.number == (first + 2) % 8)
    // It does not go back when the other one leaves.
    color.giveWay(to: [], session: 5)
    #expect(color.number == (first + 2) % 8)
  }

  @Test func colorIsSharedOnlyWhenNoneIsFree() {
    let first = PresenceColor(of: "ann").number
    var color = PresenceColor(of: "ann")
    color.giveWay(to: [neighbor(9, nil)], session: 5)
    #expect(color.number == (first + 1) % 8)
    color = PresenceColor(of: "ann")
    color.giveWay(to: (0..<8).map { neighbor(1, $0) }, session: 5)
    #expect(color.number == first)
  }
}

@Suite struct PresenceLocationTests {
  private let one = ObjectID(key: UniqueID(high: 1, low: 2), entity: 2)
  private let two = ObjectID(key: UniqueID(high: 3, low: 4), entity: 2)

  @Test func locationIsLastFocusOrMouse() {
    var place = UserPosition()
    place.look(at: nil)
    #expect(place.note == nil && place.mouse == nil)
    place.look(at: one)
    #expect(place.note == one)
    // A press focuses the note below: this is not a focus by keys.
    place.mouse(at: Point(x: 3, y: 4))
    place.look(at: two)
    #expect(place.note == nil && place.mouse == Point(x: 3, y: 4))
    place.look(at: two)
    #expect(place.note == nil)
    place.look(at: one)
    #expect(place.note == one)
    place.identify(one, as: two)
    place.look(at: two)
    #expect(place.note == two)
  }
}
