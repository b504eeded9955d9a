import GraphTesting
import Testing

@testable import StickiesTerminal
@testable import TerminalCells

@Suite struct StatusLineViewTests {
  private func line(_ state: StatusState, _ width: Int = 80) -> String {
    Grid.picture(width, 1) { grid, bounds in
      StatusLineView(state).draw(into: &grid, frame: bounds, clip: bounds, theme: Theme())
    }
  }

  @Test func statusLineShowsStates() {
    #expect(line(StatusState(connection: .connected, board: "Plans")) == " connected │ Plans")
    let unprotected = StatusState(connection: .unprotected, board: "Plans")
    #expect(line(unprotected) == " connected, not encrypted │ Plans")
    #expect(line(StatusState(connection: .silent)) == " connected, no answer")
    #expect(
      line(StatusState(connection: .reconnecting, unsent: 12)) == " reconnecting │ 12 changes not yet on the server")
    #expect(
      line(StatusState(connection: .connected, isReadOnly: true, revision: 1200))
        == " connected │ history: revision 1200 │ read-only")
    let over = StatusState(
      connection: .disconnected(reason: "the server refuses this program"), unsent: 1, isReadOnly: true, board: "Plans")
    #expect(line(over) == " read-only │ 1 change not yet on the server │ the server refuses this program")
    var said = over
    said.message = "nothing more can be changed now"
    #expect(line(said) == " read-only │ 1 not yet sent │ " + said.message)
  }

  @Test func editsThatWaitAreCounted() {
    let one = StatusState(connection: .offline(keptBoards: nil), waiting: .init(unsent: 1, parked: 0), board: "Plans")
    #expect(line(one) == " offline │ 1 edit not sent │ Plans")
    let more = StatusState(connection: .paused, unsent: 1, waiting: .init(unsent: 12, parked: 2), board: "Plans")
    let shown = line(more, 100)
    let counts = "1 change not yet in this computer's copy │ 12 edits not sent │ 2 in conflict"
    #expect(shown == " sync is off │ \(counts) │ Plans")
    let view = StatusLineView(StatusState(connection: .connected, waiting: .init(parked: 2), board: "Plans"))
    let frame = Rect(x: 0, y: 5, width: 80, height: 1)
    #expect(view.part(at: Point(x: 14, y: 5), frame: frame) == .conflicts)
    #expect(view.part(at: Point(x: 2, y: 5), frame: frame) == nil)
  }

  @Test func messagePrecedesBoardAndLongTexts() {
    let message = "ben@work had changed the same; yours counts, theirs is in the history"
    func state(_ unsent: Int, _ message: String) -> StatusState {
      StatusState(connection: .connected, unsent: unsent, message: message, board: "Plans")
    }
    #expect(line(state(1, "Copied")) == " connected │ 1 change not yet on the server │ Plans │ Copied")
    #expect(line(state(0, message), 90) == " connected │ " + message)
    let gone = "ben@work has deleted the note"
    #expect(line(state(2, gone)) == " connected │ 2 changes not yet on the server │ " + gone)
    #expect(line(state(2, message), 101) == " connected │ 2 not yet sent │ " + message)
  }

  @Test func filterShowsHiddenCountAndIsClickable() {
    let state = StatusState(connection: .connected, filter: .init("yellow, #work", hidden: 3), board: "Plans")
    #expect(line(state) == " connected │ Plans │ only yellow, #work: 3 hidden")
    let view = StatusLineView(state)
    let frame = Rect(x: 0, y: 5, width: 80, height: 1)
    #expect(view.part(at: Point(x: 25, y: 5), frame: frame) == .filter)
    #expect(view.part(at: Point(x: 15, y: 5), frame: frame) == nil)
    #expect(view.part(at: Point(x: 25, y: 4), frame: frame) == nil)
  }

  @Test func usersAreShownRightAsSpaceAllows() {
    let people = (0..<5).map { DisplayedUser(["Anna", "Bob", "日本", "Ünal\u{1B}[2J", "Eve"][$0], color: $0) }
    let state = StatusState(connection: .connected, board: "Plans", people: people)
    #expect(line(state, 70) == " connected │ Plans                Anna   Bob   日本   Ünal␛[2J   Eve")
    #expect(line(state, 44) == " connected │ Plans           Anna   Bob  +3")
    #expect(line(state, 24) == " connected │ Plans")
    // The state of the connection is omitted last.
    #expect(line(state, 9) == " connec…")
  }

  @Test func drawingIsClipped() {
    for seed in UInt64(0)..<200 {
      var random = SeededGenerator(seed: seed)
      let connections: [StatusState.Connection] = [
        .connected, .unprotected, .silent, .reconnecting, .disconnected(reason: random.text(random.below(9))),
      ]
      let state = StatusState(
        connection: connections[random.below(connections.count)], unsent: random.below(3),
        isReadOnly: random.chance(), message: random.text(random.below(20)), board: random.text(random.below(10)),
        people: (0..<random.below(6)).map { DisplayedUser(random.text(4), color: $0) })
      let frame = Rect(x: random.below(20) - 5, y: random.below(12), width: random.below(60), height: random.below(4))
      let row = Rect(x: frame.minX, y: frame.minY, width: frame.size.width, height: min(1, frame.size.height))
      expectDrawsInside(row, seed: seed) { grid in
        StatusLineView(state).draw(into: &grid, frame: frame, clip: grid.bounds, theme: Theme())
      }
    }
  }
}
