import StickiesFiles

/// The readers of untrusted files in `sync-folder` and `import`. A target accepts any bytes and traps if a promise is
/// broken; the unit tests replay every kept input.
public enum NoteFuzzTarget: String, CaseIterable, Sendable {
  /// A note as a Markdown file with front matter.
  case markdown
  /// A note of macOS's Stickies.
  case richText = "rtf"
  /// The list of windows of macOS's Stickies.
  case propertyList = "plist"

  public func run(_ bytes: [UInt8]) {
    switch self {
    case .markdown: Self.markdown(bytes)
    case .richText: Self.richText(bytes)
    case .propertyList: Self.propertyList(bytes)
    }
  }

  /// Checks that a parsed note is written and parsed again as the same note.
  private static func markdown(_ bytes: [UInt8]) {
    let file: NoteFile
    do {
      file = try NoteFile(parsing: bytes)
    } catch {
      precondition(error.line >= 1 && !error.reason.isEmpty, "a mistake is nowhere")
      return
    }
    let written = file.bytes
    guard let again = try? NoteFile(parsing: written) else { preconditionFailure("what was written can't be read") }
    precondition(again.bytes == written, "what was written is read as something else")
  }

  /// Checks that a text is not longer than its source, apart from escapes.
  private static func richText(_ bytes: [UInt8]) {
    do {
      let text = try RichText(parsing: bytes)
      precondition(text == (try? RichText(parsing: bytes)), "a text is read in two ways")
    } catch {
      precondition(error.line >= 1 && !error.reason.isEmpty, "a mistake is nowhere")
    }
  }

  private static func propertyList(_ bytes: [UInt8]) {
    do {
      for window in try MacStickies(parsing: bytes).windows.values {
        for side in [window.width, window.height].compactMap({ $0 }) {
          precondition(side >= 1 && side <= 100_000, "a window has no size")
        }
      }
    } catch {
      precondition(!error.description.isEmpty, "a list is refused without a reason")
    }
  }
}
