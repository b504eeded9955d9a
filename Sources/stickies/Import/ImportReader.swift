import FoundationEssentials
import GraphModel
import StickiesKit

/// Reads files into a batch. What can't be taken is reported with its reason, never a reason to stop.
@MainActor
enum ImportReader {
  /// A file of an import has at most this many bytes.
  static let maximumFileSize = 64 << 20

  static func read(_ path: String, into batch: inout ImportBatch, _ progress: Progress) throws {
    var isDirectory = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else {
      throw Refusal(.notFound, "there is no file \(path)")
    }
    let name = path.split(separator: "/").last.map(String.init) ?? path
    guard isDirectory else { return readFile(path, name: name, into: &batch) }
    if MacNotes.isPackage(name) { return MacNotes(packageAt: path, into: &batch).read(path, name: name, into: &batch) }
    let names = try FileManager.default.contentsOfDirectory(atPath: path).sorted()
    let packages = names.contains(where: MacNotes.isPackage) ? MacNotes(folder: path, into: &batch) : nil
    for (index, name) in names.enumerated() {
      progress.show("reading \(index + 1) of \(names.count)")
      if let packages, MacNotes.isPackage(name) {
        packages.read(path + "/" + name, name: name, into: &batch)
      } else if name.hasSuffix(".json") || name.hasSuffix(".jsonl") || name == MacNotes.database {
        readFile(path + "/" + name, name: name, into: &batch)
      }
    }
  }

  private static func readFile(_ path: String, name: String, into batch: inout ImportBatch) {
    func skip(_ reason: String) { batch.skip(name, reason) }
    if name == MacNotes.database { return skip(MacNotes.databaseReason) }
    guard let bytes = FileManager.default.contents(atPath: path) else { return skip("the file can't be read") }
    guard bytes.count <= maximumFileSize else {
      return skip("the file has \(bytes.count) bytes; at most \(maximumFileSize) are taken")
    }
    if name.hasSuffix(".jsonl") { return GraphLines.read(Array(bytes), file: name, into: &batch) }
    do {
      try KeepNote.read(try JSON(parsing: Array(bytes)), file: name, into: &batch)
    } catch let error as JSON.ParseError {
      skip("this is no JSON: \(error)")
    } catch {
      skip("\(error)")
    }
  }
}

/// A note of Google Keep, as Takeout writes it.
enum KeepNote {
  struct Unreadable: Error, CustomStringConvertible { let description: String }

  /// Keep's colors and the nearest of ours.
  private static let colors: [String: Color] = [
    "DEFAULT": .white, "RED": .red, "ORANGE": .orange, "YELLOW": .yellow, "GREEN": .green, "TEAL": .teal,
    "BLUE": .blue, "CERULEAN": .blue, "PURPLE": .purple, "PINK": .pink, "BROWN": .brown, "GRAY": .gray,
  ]

  static func read(_ json: JSON, file: String, into batch: inout ImportBatch) throws {
    guard json.members != nil, let created = json["createdTimestampUsec"]?.integerValue else {
      throw Unreadable(description: "this is no note of Google Keep: createdTimestampUsec is missing")
    }
    guard Dates.range.contains(created) else { throw Unreadable(description: "its creation time is out of range") }
    if json["isTrashed"]?.boolValue == true {
      return batch.skip(file, "the note is in Keep's trash")
    }
    var body = json["textContent"]?.stringValue ?? ""
    if let items = json["listContent"]?.arrayValue {
      body = items.map { "- [\($0["isChecked"]?.boolValue == true ? "x" : " ")] \($0["text"]?.stringValue ?? "")" }
        .joined(separator: "\n")
    }
    let title = json["title"]?.stringValue ?? ""
    let text = title.isEmpty ? body : body.isEmpty ? title : title + "\n\n" + body
    var tags = (json["labels"]?.arrayValue ?? []).compactMap { $0["name"]?.stringValue }.filter { !$0.isEmpty }
    if json["isArchived"]?.boolValue == true { tags.append("archived") }
    var values: [String: Value] = [
      "text": .string(text), "pinned": .bool(json["isPinned"]?.boolValue == true), "created": .date(created),
    ]
    let updated = json["userEditedTimestampUsec"]?.integerValue.flatMap { Dates.range.contains($0) ? $0 : nil }
    values["updated"] = .date(updated ?? created)
    let color = json["color"]?.stringValue ?? "DEFAULT"
    values["color"] = .string((colors[color] ?? .white).rawValue)
    if colors[color] == nil { batch.skip(file, "the note was taken in white: \"\(color)\" is no color of Keep's") }
    batch.board(ImportBatch.Named(name: "Keep"))
    batch.notes.append(ImportBatch.Note(origin: "keep:\(created)", board: "Keep", tags: tags, values: values))
    let attachments = json["attachments"]?.arrayValue ?? []
    if !attachments.isEmpty {
      let names = attachments.compactMap { $0["filePath"]?.stringValue }.joined(separator: ", ")
      batch.skip(file, "the note was taken without its attachment \(names)")
    }
  }
}
