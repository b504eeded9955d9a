import GraphModel
import GraphStore
import GraphTesting
import Testing

/// Regular expressions that take other engines practically forever, in a store: SQL calls the same linear matcher for
/// each row.
@Suite(.timeLimit(.minutes(5))) struct PathologicalPatternTests {
  @Test(arguments: [
    ("(a+)+", true), ("(a|aa)*b", false), ("(a*)*b", false), ("(.*)(.*)(.*)(.*)(.*)x", false), ("(a|a?)+", true),
    ("(a?){50}a{50}(a*)*c", false), ("((a{0,9}){0,9}){0,9}", false),
  ])
  func patternsAreMatchedInLinearTimePerRow(pattern: String, expected: Bool) throws {
    let store = try TestStore(try Fixtures.stickies())
    let board = try store.insert("Board", ["name": .string("B")])
    let long = String(repeating: "a", count: 50_000)
    let texts = [long, long + "!", "!" + long]
    for text in texts { _ = try store.insert("Note", ["board": .object(board), "text": .string(text)]) }
    let found = try store.all("Note", "text MATCHES \"\(pattern)\"", sort: "number")
    let text = try store.property("Note.text")
    #expect(found.map { $0[text] } == (expected ? [.string(long)] : []))
    #expect(try store.all("Board", "ANY notes.text MATCHES \"\(pattern)\"").count == (expected ? 1 : 0))
    #expect(try store.all("Note", "NOT (text MATCHES[cd] \"\(pattern)\")").count == (expected ? 2 : 3))
  }
}
