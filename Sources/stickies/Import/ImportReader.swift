import Foundation
import GraphModel
import StickiesKit

/// Reads files into a batch. What can't be taken is reported with its reason, never a reason to stop.
@MainActor
enum ImportReader {
  /// A file of an import has at most this many bytes.
  static let maximumFileSize = 64 << 20

  static func read(_ path: String, into batch: inout ImportBatch, _ progress: Progress) throws {
    var isDirectory: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else {
      throw Refusal(.notFound, "there is no file \(path)")
    }
    guard isDirectory.boolValue else { return readFile(path, name: (path as NSString).lastPathComponent, into: &batch) }
    let names = try FileManager.default.contentsOfDirectory(atPath: path).sorted()
    for (index, name) in names.enumerated() where name.hasSuffix(".json") || name.hasSuffix(".jsonl") {
      progress.show("reading \(index + 1) of \(names.count)")
      readFile(path + "/" + name, name: name, into: &batch)
    }
  }

  private static func readFile(_ path: String, name: String, into batch: inout ImportBatch) {
    func skip(_ reason: String) { batch.skipped.append(.init(file: name, reason: reason)) }
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
      batch.skipped.append(.init(file: file, reason: "the note is in Keep's trash"))
      return
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
    batch.board("Keep")
    batch.notes.append(
      ImportBatch.Note(
        origin: "keep:\(created)", text: text, color: colors[json["color"]?.stringValue ?? ""] ?? .white,
        isPinned: json["isPinned"]?.boolValue == true, created: created,
        updated: json["userEditedTimestampUsec"]?.integerValue.flatMap { Dates.range.contains($0) ? $0 : nil }
          ?? created,
        board: "Keep", tags: tags))
    let attachments = json["attachments"]?.arrayValue ?? []
    if !attachments.isEmpty {
      let names = attachments.compactMap { $0["filePath"]?.stringValue }.joined(separator: ", ")
      batch.skipped.append(.init(file: file, reason: "the note was taken without its attachment \(names)"))
    }
  }
}

/// The project's own JSON Lines, as `export` writes them.
enum GraphLines {
  static func read(_ bytes: [UInt8], file: String, into batch: inout ImportBatch) {
    var objects = [(line: Int, json: JSON)]()
    for (index, line) in bytes.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() where !line.isEmpty
    {
      do {
        objects.append((index + 1, try JSON(parsing: line)))
      } catch {
        // Broken half-way: nothing of this file is taken, so that a later run of the whole file is one import.
        return batch.skipped.append(
          .init(file: file, reason: "line \(index + 1) is no JSON (\(error)); nothing of the file was taken"))
      }
    }
    var names = [String: String]()
    for (_, json) in objects {
      if let id = json["id"]?.stringValue, let name = json["name"]?.stringValue { names[id] = name }
    }
    for (line, json) in objects {
      switch json["entity"]?.stringValue {
      case "Board":
        if let name = json["name"]?.stringValue {
          batch.board(
            name, color: json["color"]?.stringValue, created: json["created"]?.stringValue.flatMap(Dates.timestamp))
        }
      case "Tag": if let name = json["name"]?.stringValue { batch.tags.append(name) }
      case "Note": note(json, names, "\(file):\(line)", into: &batch)
      case "Link":
        if let from = json["from"]?.stringValue, let to = json["to"]?.stringValue {
          batch.links.append(.init(from: from, to: to, label: json["label"]?.stringValue ?? ""))
        }
      default: batch.skipped.append(.init(file: "\(file):\(line)", reason: "the line has no entity that is known here"))
      }
    }
  }

  private static func note(_ json: JSON, _ names: [String: String], _ place: String, into batch: inout ImportBatch) {
    guard let id = json["id"]?.stringValue, let board = json["board"]?.stringValue.flatMap({ names[$0] }) else {
      return batch.skipped.append(.init(file: place, reason: "the note's id or board is missing"))
    }
    var note = ImportBatch.Note(
      origin: json["origin"]?.stringValue ?? "stickies:\(id)", text: json["text"]?.stringValue ?? "",
      color: json["color"]?.stringValue.flatMap(Color.init(rawValue:)) ?? .yellow,
      isPinned: json["pinned"]?.boolValue ?? false, created: json["created"]?.stringValue.flatMap(Dates.timestamp),
      updated: json["updated"]?.stringValue.flatMap(Dates.timestamp), board: board,
      tags: (json["tags"]?.arrayValue ?? []).compactMap { $0.stringValue.flatMap { names[$0] } }, id: id)
    for name in ["x", "y", "width", "height", "z", "collapsed", "locked"] {
      guard let attribute = StickiesModel.model.entity(named: "Note")?.property(named: name)?.attribute,
        let value = json[name].flatMap({ Value(json: $0, kind: attribute.kind) })
      else { continue }
      note.attributes[name] = value
    }
    batch.notes.append(note)
  }
}
