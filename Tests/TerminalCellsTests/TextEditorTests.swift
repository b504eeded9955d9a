import GraphTesting
import Testing

@testable import TerminalCells

@Suite struct TextEditorTests {
  /// An editor of a text in which `|` is the cursor and `[` the selection's other end.
  private func editor(_ marked: String, width: Int = 40) -> TextEditor {
    func place(of mark: String, without other: String) -> Int? {
      let text = marked.replacing(other, with: "")
      return text.firstRange(of: mark).map { text.utf8.distance(from: text.startIndex, to: $0.lowerBound) }
    }
    var editor = TextEditor(marked.replacing("|", with: "").replacing("[", with: ""), width: width)
    editor.cursor = place(of: "|", without: "[") ?? 0
    editor.anchor = place(of: "[", without: "|") ?? editor.cursor
    return editor
  }

  /// The text with its marks.
  private func shown(_ editor: TextEditor) -> String {
    var bytes = Array(editor.text.utf8)
    let marks = editor.anchor == editor.cursor ? [(editor.cursor, "|")] : [(editor.cursor, "|"), (editor.anchor, "[")]
    for (place, mark) in marks.sorted(by: { $0.0 > $1.0 }) { bytes.insert(contentsOf: mark.utf8, at: place) }
    return String(decoding: bytes, as: UTF8.self)
  }

  private func after(_ marked: String, width: Int = 40, _ commands: TextCommand...) -> String {
    var editor = editor(marked, width: width)
    for command in commands { editor.perform(command) }
    return shown(editor)
  }

  @Test func typingAndDeletingEditText() {
    #expect(after("one| two", .insert(","), .insert(" ")) == "one, | two")
    #expect(after("[one| two", .insert("1")) == "1| two")
    #expect(after("👨‍👩‍👧é|", .delete(.left), .delete(.left)) == "|")
    #expect(after("|👨‍👩‍👧é", .delete(.right)) == "|é")
    #expect(after("|one", .delete(.left)) == "|one")
    #expect(after("one two, |three", .delete(.wordLeft)) == "one |three")
    #expect(after("one| two", .delete(.wordRight)) == "one|")
    #expect(after("one\ntw|o", .delete(.rowStart)) == "one\n|o")
    #expect(after("on|e\ntwo", .delete(.paragraphEnd)) == "on|\ntwo")
    // A mark joins the letter before, a letter of a flag the one behind.
    #expect(after("e|", .insert("\u{301}"), .delete(.left)) == "|")
    #expect(after("|🇪", .insert("🇩")) == "🇩🇪|")
  }

  @Test func motionsMoveCursor() {
    #expect(after("one, t|wo", .move(.wordLeft, isSelecting: false)) == "one, |two")
    #expect(after("one|, two", .move(.wordRight, isSelecting: false)) == "one, two|")
    #expect(after("one\ntwo|\nthree", .move(.paragraphStart, isSelecting: false)) == "one\n|two\nthree")
    #expect(after("one\n|two", .move(.paragraphStart, isSelecting: false)) == "|one\ntwo")
    #expect(after("on|e\ntwo", .move(.paragraphEnd, isSelecting: false)) == "one|\ntwo")
    #expect(after("one|\ntwo", .move(.paragraphEnd, isSelecting: false)) == "one\ntwo|")
    #expect(after("one| two", .move(.end, isSelecting: true)) == "one[ two|")
    #expect(after("a[bc|d", .move(.left, isSelecting: false)) == "a|bcd")
    #expect(after("a[bc|d", .move(.right, isSelecting: false)) == "abc|d")
    #expect(after("|abc", .selectAll) == "[abc|")
    #expect(after("the quick| brown", width: 10, .move(.rowStart, isSelecting: false)) == "|the quick brown")
    #expect(after("the qu|ick brown", width: 10, .move(.rowEnd, isSelecting: false)) == "the quick| brown")
  }

  @Test func upAndDownKeepTheirColumnOverShortRows() {
    let text = "long line\nab\n日本語日本語"
    var editor = editor(text.replacing("long l", with: "long l|"))
    editor.perform(.move(.down, isSelecting: false))
    #expect(shown(editor) == "long line\nab|\n日本語日本語")
    editor.perform(.move(.down, isSelecting: false))
    #expect(shown(editor) == "long line\nab\n日本語|日本語")
    editor.perform(.move(.up, isSelecting: false))
    editor.perform(.move(.up, isSelecting: true))
    #expect(shown(editor) == "long l|ine\nab[\n日本語日本語")
    editor.perform(.move(.up, isSelecting: true))
    #expect(shown(editor) == "|long line\nab[\n日本語日本語")
    // Rows that a long line is broken into count too.
    #expect(after("the qu|ick brown fox", width: 10, .move(.down, isSelecting: false)) == "the quick brown |fox")
  }

  @Test func mousePlacesCursorAndSelectsWords() {
    var editor = editor("|one two\nthree")
    _ = editor.handle(.mouse(MouseEvent(.press(.left), at: Point(x: 4, y: 0))))
    _ = editor.handle(.mouse(MouseEvent(.drag(.left), at: Point(x: 2, y: 1))))
    #expect(shown(editor) == "one [two\nth|ree")
    #expect(editor.selectedColumns(row: 0) == 4..<8)
    #expect(editor.selectedColumns(row: 1) == 0..<2)
    editor.perform(.selectWord(Point(x: 5, y: 0)))
    #expect(editor.selectedText == "two")
    editor.perform(.selectLine(Point(x: 5, y: 0)))
    #expect(editor.selectedText == "one two\n")
    #expect(!editor.handle(.mouse(MouseEvent(.wheel(.up), at: Point(x: 0, y: 0)))).isHandled)
  }

  @Test func cutCopyAndPasteUseClipboard() {
    var editor = editor("one [two|")
    #expect(editor.perform(.copy).copied == "two")
    #expect(editor.perform(.cut) == TextEditor.Outcome(changes: [TextEdit(4..<7, "")], copied: "two"))
    #expect(shown(editor) == "one |")
    editor.perform(.pasteClipboard)
    editor.perform(.pasteClipboard)
    #expect(shown(editor) == "one twotwo|")
    #expect(editor.perform(.copy).copied == nil)
    _ = editor.handle(.paste(PasteEvent(text: "a\nb")))
    #expect(shown(editor) == "one twotwoa\nb|")
  }

  @Test func undoRevertsWordByWord() {
    var editor = TextEditor("", width: 40)
    for letter in "one two" { editor.perform(.insert(String(letter))) }
    editor.perform(.delete(.left))
    editor.perform(.delete(.left))
    #expect(shown(editor) == "one t|")
    var seen = [String]()
    while editor.canUndo {
      editor.perform(.undo)
      seen.append(shown(editor))
    }
    #expect(seen == ["one two|", "one |", "|"])
    #expect(editor.perform(.undo).changes.isEmpty)
    while editor.canRedo { editor.perform(.redo) }
    #expect(shown(editor) == "one t|")
    editor.perform(.undo)
    editor.perform(.insert("!"))
    #expect(!editor.canRedo)
  }

  @Test func remoteEditsShiftCursorAndSelection() {
    var editor = editor("one |two")
    editor.merge(TextEdit(0..<0, "zero "))
    #expect(shown(editor) == "zero one |two")
    // Text of others is inserted at the cursor: it goes after the text typed here.
    editor.merge(TextEdit(9..<9, "X"))
    #expect(shown(editor) == "zero one |Xtwo")
    editor.merge(TextEdit(4..<12, ""))
    #expect(shown(editor) == "zero|o")
    var selecting = self.editor("a[bc|d")
    selecting.merge(TextEdit(3..<3, "X"))
    selecting.merge(TextEdit(1..<1, "Y"))
    #expect(shown(selecting) == "aY[bc|Xd")
    let fits = selecting.merge(TextEdit(2..<99, ""))
    #expect(!fits)
    #expect(shown(selecting) == "aY[bc|Xd")
    selecting.adopt("aYbc-Xd")
    #expect(shown(selecting) == "aY[bc|-Xd")
  }

  @Test func undoKeepsRemoteEdits() {
    var editor = editor("|")
    editor.perform(.paste("one three"))
    editor.merge(TextEdit(4..<4, "TWO "))
    editor.merge(TextEdit(0..<0, "ZERO "))
    #expect(editor.text == "ZERO one TWO three")
    let undone = editor.perform(.undo)
    #expect(editor.text == "ZERO TWO ")
    #expect(undone.changes.count == 2)
    editor.perform(.redo)
    #expect(editor.text == "ZERO one TWO three")
    // An undo does not bring back text that other clients deleted; that text is nothing to undo.
    editor.merge(TextEdit(0..<editor.text.utf8.count, ""))
    #expect(!editor.canUndo)
  }

  @Test func readOnlyTextDoesNotChange() {
    var editor = editor("one [two|")
    editor.isEditable = false
    for command: TextCommand in [.insert("x"), .paste("y"), .delete(.left), .undo, .pasteClipboard] {
      #expect(editor.perform(command).changes.isEmpty)
    }
    #expect(editor.perform(.cut).copied == "two")
    #expect(shown(editor) == "one [two|")
  }

  @Test func keysMatchDesktopConventions() {
    #expect(TextEditor.command(for: KeyEvent(.character("A"))) == .insert("A"))
    #expect(TextEditor.command(for: KeyEvent(.right, [.control, .shift])) == .move(.wordRight, isSelecting: true))
    #expect(TextEditor.command(for: KeyEvent(.character("z"), [.control, .shift])) == .redo)
    #expect(TextEditor.command(for: KeyEvent(.enter)) == .insert("\n"))
    #expect(TextEditor.command(for: KeyEvent(.enter, .control)) == nil)
    #expect(TextEditor.command(for: KeyEvent(.tab, .shift)) == nil)
    #expect(TextEditor.command(for: KeyEvent(.escape)) == nil)
    #expect(TextEditor.command(for: KeyEvent(.character("s"), .control)) == nil)
  }

  /// An observer that applies the reported changes has the same text. After an undo of all steps, only the changes of
  /// others remain. Every offset is between two characters.
  @Test func reportedEditsReproduceText() {
    let commands: [TextCommand] = [
      .delete(.left), .delete(.right), .delete(.wordLeft), .undo, .redo, .cut, .copy, .pasteClipboard, .selectAll,
      .move(.left, isSelecting: false), .move(.up, isSelecting: true), .move(.wordLeft, isSelecting: false),
      .move(.down, isSelecting: false), .move(.right, isSelecting: true), .move(.start, isSelecting: false),
    ]
    for seed in UInt64(0)..<300 {
      var random = SeededGenerator(seed: seed)
      var editor = TextEditor(random.text(5), width: 1 + random.below(10))
      var followed = editor.text
      for _ in 0..<60 {
        switch random.below(4) {
        case 0:
          let change = TextEditTests.change(of: editor.text, &random)
          let fits = editor.merge(change)
          #expect(fits)
          change.apply(to: &followed)
        case 1:
          for change in editor.perform(.insert(random.text(1))).changes { change.apply(to: &followed) }
        default:
          for change in editor.perform(random.one(of: commands)).changes { change.apply(to: &followed) }
        }
        #expect(Array(editor.text.utf8) == Array(followed.utf8), "seed \(seed)")
        for place in [editor.cursor, editor.anchor] { #expect(editor.boundary(place) == place, "seed \(seed)") }
        #expect(editor.layout == TextLayout(editor.text, width: editor.width))
      }
    }
  }

  @Test func undoOfEverythingKeepsRemoteEdits() {
    for seed in UInt64(0)..<300 {
      var random = SeededGenerator(seed: seed)
      var editor = TextEditor("", width: 20)
      // Letters of one's own are small, those of others are large: no change of theirs deletes anything.
      for _ in 0..<30 {
        if random.below(3) == 0 {
          let place = editor.boundary(random.below(editor.text.utf8.count + 1))
          editor.merge(TextEdit(place..<place, "XY"))
        } else {
          editor.perform(.insert(random.one(of: ["a", "b", " "])))
        }
      }
      while editor.canUndo { editor.perform(.undo) }
      #expect(editor.text.allSatisfy { $0 == "X" || $0 == "Y" }, "seed \(seed): \(editor.text)")
    }
  }
}
