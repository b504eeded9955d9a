/// The key bindings of an editor: the keys of desktops, and keys of the shell that do not conflict with them.
extension TextEditor {
  /// Returns the command for a key; nil if the editor does not use it. `rows` is the number of visible rows.
  public static func command(for event: KeyEvent, rows: Int = 10) -> TextCommand? {
    let isSelecting = event.modifiers.contains(.shift)
    let modifiers = event.modifiers.subtracting(.shift)
    if case .character(let character) = event.key {
      return modifiers.isEmpty ? .insert(String(character)) : chord(character, modifiers, isSelecting)
    }
    switch event.key {
    case .enter where modifiers.isEmpty: return .insert("\n")
    case .tab where event.modifiers.isEmpty: return .insert("\t")
    case .backspace where modifiers.isEmpty: return .delete(.left)
    case .backspace: return .delete(.wordLeft)
    case .delete where isSelecting && modifiers.isEmpty: return .cut
    case .delete: return .delete(modifiers.isEmpty ? .right : .wordRight)
    case .insert where event.modifiers == .control: return .copy
    case .insert where event.modifiers == .shift: return .pasteClipboard
    default: break
    }
    return motion(event.key, modifiers, rows).map { .move($0, isSelecting: isSelecting) }
  }

  private static func chord(_ character: Character, _ modifiers: Modifiers, _ isShifted: Bool) -> TextCommand? {
    switch (modifiers, character) {
    case (.control, "a"): .selectAll
    // The control character that a line feed arrives as.
    case (.control, "j"): .insert("\n")
    case (.control, "c"): .copy
    case (.control, "x"): .cut
    case (.control, "v"): .pasteClipboard
    case (.control, "z"): isShifted ? .redo : .undo
    case (.control, "_"): .undo
    case (.control, "y"): .redo
    case (.control, "w"): .delete(.wordLeft)
    case (.control, "u"): .delete(.rowStart)
    case (.control, "k"): .delete(.paragraphEnd)
    case (.alt, "b"): .move(.wordLeft, isSelecting: isShifted)
    case (.alt, "f"): .move(.wordRight, isSelecting: isShifted)
    case (.alt, "d"): .delete(.wordRight)
    default: nil
    }
  }

  private static func motion(_ key: Key, _ modifiers: Modifiers, _ rows: Int) -> TextMotion? {
    let isFar = !modifiers.isDisjoint(with: [.control, .alt])
    return switch key {
    case .left: isFar ? .wordLeft : .left
    case .right: isFar ? .wordRight : .right
    case .up: isFar ? .paragraphStart : .up
    case .down: isFar ? .paragraphEnd : .down
    case .pageUp: .pageUp(rows: rows - 1)
    case .pageDown: .pageDown(rows: rows - 1)
    case .home: isFar ? .start : .rowStart
    case .end: isFar ? .end : .rowEnd
    default: nil
    }
  }

  /// Handles an event if the editor uses it. Mouse positions are in cells of the rows.
  public mutating func handle(_ event: TerminalEvent, rows: Int = 10) -> Outcome {
    switch event {
    case .key(let key): if let command = Self.command(for: key, rows: rows) { return perform(command) }
    case .paste(let paste): return perform(.paste(paste.text))
    case .mouse(let mouse):
      switch mouse.kind {
      case .press(.left): return perform(.place(mouse.position, isSelecting: mouse.modifiers.contains(.shift)))
      case .drag(.left): return perform(.place(mouse.position, isSelecting: true))
      default: break
      }
    default: break
    }
    return Outcome(isHandled: false)
  }
}
