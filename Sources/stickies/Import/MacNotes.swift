import GraphModel
import StickiesFiles
import StickiesKit

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The folder of macOS's Stickies. It has a package `NAME.rtfd` for each note, with its rich text and attachments,
/// and a list of the windows.
@MainActor
struct MacNotes {
  /// The file in which older systems kept all notes.
  static let database = "StickiesDatabase"
  static let databaseReason =
    "the notes of an older Stickies are not read; open them in a newer one, which makes .rtfd packages of them"
  private static let board = "Stickies"
  private static let text = "TXT.rtf"

  private let windows: MacStickies
  /// Whether the list of windows was read; only then a missing window is reported.
  private let isKnown: Bool

  static func isPackage(_ name: String) -> Bool { name.lowercased().hasSuffix(".rtfd") && name.count > 5 }

  /// Reads the windows of a folder with packages.
  init(folder: String, into batch: inout ImportBatch) {
    func skipWindows(_ reason: String) {
      batch.skip(MacStickies.name, "\(reason); the notes were imported without color and place")
    }
    let path = folder + "/" + MacStickies.name
    guard let bytes = FileManager.default.contents(atPath: path) else {
      skipWindows("the file is missing or can't be read")
      (windows, isKnown) = (MacStickies(), false)
      return
    }
    do {
      (windows, isKnown) = (try MacStickies(parsing: Array(bytes)), true)
    } catch {
      skipWindows("\(error)")
      (windows, isKnown) = (MacStickies(), false)
    }
  }

  /// Reads the windows for a single package: the list is in the same folder.
  init(packageAt path: String, into batch: inout ImportBatch) {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    let folder = parts.reversed().drop { $0.isEmpty }.dropFirst().reversed().joined(separator: "/")
    self.init(folder: folder.isEmpty ? (path.hasPrefix("/") ? "/" : ".") : folder, into: &batch)
  }

  func read(_ path: String, name: String, into batch: inout ImportBatch) {
    var isDirectory = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory), isDirectory,
      let names = try? FileManager.default.contentsOfDirectory(atPath: path)
    else { return batch.skip(name, "this is not a package: a package is a folder with \(Self.text)") }
    guard let bytes = FileManager.default.contents(atPath: path + "/" + Self.text) else {
      return batch.skip(name, "its \(Self.text) can't be read")
    }
    let text: RichText
    do {
      text = try RichText(parsing: Array(bytes))
    } catch {
      return batch.skip(name, "\(Self.text), \(error)")
    }
    let key = String(name.dropLast(".rtfd".count))
    var values: [String: Value] = [NoteProperties.text.name: .string(text.text)]
    if let background = text.background {
      values[NoteProperties.color.name] = .string(MacStickies.nearest(background).rawValue)
    }
    if let window = windows.windows[key] {
      values[NoteProperties.pinned.name] = .bool(window.isFloating)
      if let color = window.color { values[NoteProperties.color.name] = .string(color.rawValue) }
      let frame = [
        (NoteProperties.x, window.x), (NoteProperties.y, window.y), (NoteProperties.width, window.width),
        (NoteProperties.height, window.height),
      ]
      for (property, number) in frame { values[property.name] = number.map { .double($0) } }
      let missing = [window.color == nil ? "color" : nil, window.x == nil ? "place" : nil].compactMap(\.self)
      if !missing.isEmpty {
        batch.skip(
          name, "the note was imported without \(missing.joined(separator: " and ")): \(MacStickies.name) has none")
      }
    } else if isKnown {
      let missing = text.background == nil ? "color and place" : "place"
      batch.skip(name, "the note was imported without \(missing): \(MacStickies.name) has no entry for it")
    }
    batch.addBoard(ImportBatch.NamedObject(name: Self.board))
    batch.notes.append(
      ImportBatch.Note(origin: "macos:\(key)", board: Self.board, tags: [], values: values, place: name))
    if text.unreadable > 0 {
      let letters = text.unreadable == 1 ? "1 letter" : "\(text.unreadable) letters"
      batch.skip(
        name,
        "the note was imported without \(letters) that \(Self.text) writes in an unknown way: \u{FFFD} stands there")
    }
    let beside = names.filter { $0 != Self.text && !$0.hasPrefix(".") }
    let attachments = RichText.attachments(text.attachments, beside: beside)
    if !attachments.isEmpty {
      batch.skip(name, "the note was imported without its attachment \(attachments.joined(separator: ", "))")
    }
  }
}
