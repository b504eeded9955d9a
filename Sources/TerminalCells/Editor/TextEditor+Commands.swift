/// A command of a text editor.
public enum TextCommand: Hashable, Sendable {
  /// Types text, replacing the selection.
  case insert(String)
  /// Pastes text, replacing the selection, as an undo group of its own.
  case paste(String)
  /// Pastes the text that was last cut or copied in this editor.
  case pasteClipboard
  /// Moves the cursor; `isSelecting` extends the selection.
  case move(TextMotion, isSelecting: Bool)
  /// Deletes the selection; without one, the text from the cursor to the motion's target.
  case delete(TextMotion)
  /// Selects the complete text.
  case selectAll
  /// Collapses the selection to the cursor.
  case deselect
  /// Removes the selection and copies it to the clipboard.
  case cut
  /// Copies the selection to the clipboard.
  case copy
  /// Undoes the last group.
  case undo
  /// Redoes the group that was undone last.
  case redo
  /// Moves the cursor to a cell of the rows; a drag passes `isSelecting`.
  case place(Point, isSelecting: Bool)
  /// Selects the word in a cell.
  case selectWord(Point)
  /// Selects the line in a cell.
  case selectLine(Point)
}

extension TextEditor {
  /// Performs a command and returns its changes.
  @discardableResult public mutating func perform(_ command: TextCommand) -> Outcome {
    switch command {
    case .insert(let typed):
      return replaceSelection(with: typed, Self.kind(ofTyped: typed))
    case .paste(let pasted): return replaceSelection(with: pasted, nil)
    case .pasteClipboard: return replaceSelection(with: clipboard, nil)
    case .delete(let motion): return delete(motion)
    case .cut:
      let outcome = perform(.copy)
      guard outcome.copied != nil, isEditable else { return outcome }
      var cut = replaceSelection(with: "", nil)
      cut.copied = outcome.copied
      return cut
    case .copy:
      guard cursor != anchor else { return Outcome() }
      clipboard = selectedText
      return Outcome(copied: clipboard)
    case .undo: return takeBack()
    case .redo: return doAgain()
    default:
      group = nil
      moveCursor(command)
      return Outcome()
    }
  }

  private mutating func moveCursor(_ command: TextCommand) {
    switch command {
    case .move(let motion, let isSelecting):
      // Left and right collapse a selection to that end.
      if !isSelecting, cursor != anchor, motion == .left || motion == .right {
        cursor = motion == .left ? selection.lowerBound : selection.upperBound
        column = nil
      } else {
        (cursor, column) = target(of: motion)
      }
      if !isSelecting { anchor = cursor }
      return
    case .selectAll: (anchor, cursor) = (0, text.utf8.count)
    case .deselect: anchor = cursor
    case .place(let point, let isSelecting):
      cursor = layout.offset(at: point, in: text)
      if !isSelecting { anchor = cursor }
    case .selectWord(let point): select(word(at: layout.offset(at: point, in: text)))
    case .selectLine(let point): select(line(at: layout.offset(at: point, in: text)))
    default: break
    }
    column = nil
  }

  private mutating func select(_ range: Range<Int>) { (anchor, cursor) = (range.lowerBound, range.upperBound) }

  private static func kind(ofTyped typed: String) -> GroupKind? {
    guard typed.count == 1, let character = typed.first else { return nil }
    return character.isWhitespace ? .blanks : .typing
  }

  private mutating func replaceSelection(with replacement: String, _ kind: GroupKind?) -> Outcome {
    let change = TextEdit(selection, replacement)
    guard isEditable, !change.range.isEmpty || !replacement.isEmpty else { return Outcome() }
    return apply(change, kind)
  }

  private mutating func delete(_ motion: TextMotion) -> Outcome {
    guard isEditable else { return Outcome() }
    if cursor != anchor { return replaceSelection(with: "", nil) }
    let end = target(of: motion).offset
    guard end != cursor else { return Outcome() }
    let kind: GroupKind? = motion == .left ? .deletingBack : motion == .right ? .deletingForward : nil
    return apply(TextEdit(min(end, cursor)..<max(end, cursor), ""), kind)
  }

  /// Applies a change and moves the cursor after it. A group continues while edits of the same kind are adjacent:
  /// letters join letters, blanks join the letters before them.
  private mutating func apply(_ change: TextEdit, _ kind: GroupKind?) -> Outcome {
    let joins =
      kind != nil && change.range.isEmpty != (kind == .deletingBack || kind == .deletingForward)
      && (group == kind || group == .typing && kind == .blanks) && !undoable.isEmpty
    let inverse = change.inverse(of: text)
    if joins {
      undoable[undoable.count - 1].insert(inverse, at: 0)
    } else {
      undoable.append([inverse])
      if undoable.count > Self.maximumUndoGroups { undoable.removeFirst() }
    }
    group = kind
    redoable.removeAll()
    change.apply(to: &text)
    // The typed text may combine with the character after it; the cursor then goes after the combined character.
    cursor = boundary(change.range.lowerBound + change.replacement.utf8.count, isBehind: true)
    anchor = cursor
    updateLayout()
    return Outcome(changes: [change])
  }

  private mutating func takeBack() -> Outcome {
    guard isEditable, let steps = undoable.popLast() else { return Outcome() }
    let (outcome, back) = play(steps)
    redoable.append(back)
    return outcome
  }

  private mutating func doAgain() -> Outcome {
    guard isEditable, let steps = redoable.popLast() else { return Outcome() }
    let (outcome, back) = play(steps)
    undoable.append(back)
    return outcome
  }

  /// Applies changes in order and returns those that revert them.
  private mutating func play(_ steps: [TextEdit]) -> (Outcome, [TextEdit]) {
    var back = [TextEdit]()
    for step in steps {
      back.insert(step.inverse(of: text), at: 0)
      step.apply(to: &text)
      cursor = step.range.lowerBound + step.replacement.utf8.count
    }
    anchor = cursor
    group = nil
    updateLayout()
    return (Outcome(changes: steps), back)
  }
}
