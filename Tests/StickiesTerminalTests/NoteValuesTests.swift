import StickiesKit
import Testing

@testable import StickiesTerminal

/// The shown values of notes are read when they change, not for every redraw.
@MainActor
@Suite(.serialized, .timeLimit(.minutes(5))) struct NoteValuesTests {
  @Test func valuesAreReadOnlyWhenNoteChanges() async throws {
    let stage = try await BoardFixture()
    var notes = [Note]()
    for text in ["one", "two", "three"] { notes.append(try await stage.note(text)) }
    let context = stage.other.context
    let values = NoteValuesCache(in: context)
    for _ in 0..<10 { #expect(notes.map { values[$0.id]?.text } == ["one", "two", "three"]) }
    #expect(values.reads == 3)

    notes[1].text = "two and a half"
    (notes[1].pinned, notes[1].collapsed) = (true, true)
    for _ in 0..<10 { #expect(notes.map { values[$0.id]?.text } == ["one", "two and a half", "three"]) }
    #expect(values.reads == 4)
    #expect(values[notes[1].id]?.marks == .pinned)
    #expect(values[notes[1].id]?.outline.size.height == 1)
    context.rollback()
    #expect(values[notes[1].id]?.text == "two")
    #expect(values.reads == 5)
    await stage.close()
  }

  @Test func renamedTagUpdatesItsNotes() async throws {
    let stage = try await BoardFixture()
    let note = try await stage.note("one")
    let context = stage.other.context
    let values = NoteValuesCache(in: context)
    let tag = Tag(in: context)
    tag.name = "old"
    note.tags.insert(tag)
    #expect(values[note.id]?.tags == ["old"])
    tag.name = "new"
    #expect(values[note.id]?.tags == ["new"])
    context.delete(note)
    #expect(values[note.id] == nil)
    await stage.close()
  }
}
