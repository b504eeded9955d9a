import Foundation
import GraphModel
import Testing

/// Notes that `graph insert` creates without a place do not overlap.
@Suite struct NotePlacementTests {
  private struct Place: Hashable {
    let x: Double
    let y: Double
  }

  private static func places(_ daemon: Daemon) throws -> [Place] {
    let fetch = try daemon.run("graph", "fetch", "Note", "--properties", "x,y", "--sort", "number", "--json")
    return try (JSON(parsing: fetch.output).arrayValue ?? []).map { note in
      Place(x: try #require(note["x"]?.doubleValue), y: try #require(note["y"]?.doubleValue))
    }
  }

  @Test(arguments: [[], ["--one-commit"], ["--batch", "7"]]) func insertedLinesAreLaidOut(options: [String]) throws {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("add", "first")
    let board = try #require(try daemon.run("graph", "fetch", "Board", "--ids").lines.first)
    let lines = (0..<20).map { #"{"text": "\#($0)", "board": "\#(board)"}"# }.joined(separator: "\n") + "\n"
    let insert = try Daemon.run(
      ["graph", "insert", "Note", "-"] + options, server: daemon.socket.description, author: "ann@test", input: lines)
    #expect(insert.status == 0, "\(insert.errors)")
    let places = try Self.places(daemon)
    #expect(places.count == 21 && Set(places).count == 21)
    for (index, place) in places.enumerated() {
      for other in places[(index + 1)...] {
        #expect(abs(place.x - other.x) >= 200 || abs(place.y - other.y) >= 200, "\(place) and \(other)")
      }
    }
    #expect(daemon.stop() == 0)
  }

  /// The second insert matches the existing note, and sets the named values on it.
  @Test func insertWithExistingKeyDoesNotMoveNote() throws {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("add", "first", "--position", "0,0")
    let board = try #require(try daemon.run("graph", "fetch", "Board", "--ids").lines.first)
    for color in ["pink", "blue"] {
      try daemon.run(
        "graph", "insert", "Note", "board=\(board)", "origin=here", "color=\(color)", "--policy", "objectTrump")
    }
    #expect(try Self.places(daemon) == [Place(x: 0, y: 0), Place(x: 0, y: 0)])
    #expect(try daemon.run("graph", "fetch", "Note", "--where", "color == \"blue\"", "--ids").lines.count == 1)
    #expect(daemon.stop() == 0)
  }

  @Test func insertKeepsItsPositionAndOthersArePlacedBesideIt() throws {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("add", "first", "--position", "0,0")
    let board = try #require(try daemon.run("graph", "fetch", "Board", "--ids").lines.first)
    try daemon.run("graph", "insert", "Note", "board=\(board)", "x=0", "y=500")
    try daemon.run("graph", "insert", "Note", "board=\(board)")
    let places = try Self.places(daemon)
    #expect(places.prefix(2) == [Place(x: 0, y: 0), Place(x: 0, y: 500)])
    #expect(places.count == 3 && places[2].x >= 200)
    #expect(daemon.stop() == 0)
  }
}
