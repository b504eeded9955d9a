import ArgumentParser
import GraphClient
import GraphModel
import GraphOffline
import GraphReplicaStore
import GraphShell
import StickiesKit
import StickiesModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension SyncCommand {
  struct Conflicts: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "conflicts", abstract: "List the edits that the daemon has refused, with both values.")
    @OptionGroup var options: CommonOptions

    @MainActor
    func run() async throws {
      let replica = try OfflineConnection.replica(of: options.address)
      let unsent = try replica.openUnsent()
      defer { unsent.close() }
      let entries = try unsent.entries(IntentForm(StickiesModel.model), .parked)
      let output = SyncOutput(options, replica).output
      if output.json {
        return output.print(JSON.array(try entries.map { try JSON(parsingEnvelope: $0.form.utf8) }))
      }
      if entries.isEmpty { return output.print("no edit is in conflict") }
      let ids = Set(entries.compactMap(\.intent).flatMap(\.changes).map(\.id))
      let images = replica.copiedImages(of: ids, model: StickiesModel.model)
      for entry in entries {
        output.print(
          Self.text(entry) { id in
            if let image = images[id] { return output.line(image) }
            return "\(StickiesModel.model.entityName(id.entity)) \(id.description.prefix(8))"
          })
      }
    }

    /// - Parameter line: returns a line for a changed object.
    @MainActor
    private static func text(_ entry: UnsentFile.Entry, _ line: (ObjectID) -> String) -> String {
      guard let intent = entry.intent, case .parked(let parking) = intent.state else {
        return "\(entry.number)  \(TextTable.visible(entry.failure.map { $0.message } ?? entry.form))"
      }
      let edit = OfflineReplica.ParkedEdit(entry)
      let (author, message) = (TextTable.visible(intent.author), TextTable.visible(parking.message))
      var lines = ["\(entry.number)  \(author), \(Output.localTime(intent.made)): \(message)"]
      var seen = Set<ObjectID>()
      for id in intent.changes.map(\.id) where !id.isTemporary && seen.insert(id).inserted {
        lines.append("    of \(line(id))")
      }
      for conflict in parking.conflicts {
        let property = StickiesModel.model.property(conflict.property)
        let name = name(of: conflict.id, property)
        func text(_ side: OfflineReplica.ConflictSide) -> String {
          switch side {
          case .value(let value): TextTable.visible(value.json(kind: property?.attribute?.kind).text)
          case .deleted: "deleted"
          case .changed: "changed"
          }
        }
        if let mine = edit.mine(conflict) { lines.append("    \(name) mine   \(text(mine))") }
        let other = TextTable.visible(conflict.author)
        let theirs = text(OfflineReplica.ParkedEdit.theirs(conflict))
        lines.append("    \(name) theirs \(theirs) (\(other), revision \(conflict.revision))")
      }
      lines += undisputed(edit)
      for violation in parking.violations { lines.append("    \(TextTable.visible(violation.message))") }
      return lines.joined(separator: "\n")
    }

    /// The rest of an edit, which waits with the values in conflict.
    private static func undisputed(_ edit: OfflineReplica.ParkedEdit) -> [String] {
      let values = edit.undisputed.compactMap { id, item -> String? in
        let property = StickiesModel.model.property(item.property)
        guard let value = value(item, property) else { return nil }
        return "    \(name(of: id, property)) mine   \(TextTable.visible(value.text))"
      }
      return values + edit.undisputedDeletes.map { "    \(name(of: $0, nil)) mine   deleted" }
    }

    private static func name(of id: ObjectID, _ property: Property?) -> String {
      [StickiesModel.model.entity(id.entity)?.name, property?.name].compactMap { $0 }.joined(separator: ".")
    }

    /// The value that an edit sets, or what it inserts into a text; nil for a change of members or their order.
    private static func value(_ edit: GraphModel.Edit, _ property: Property?) -> JSON? {
      switch edit.action {
      case .set(let value): value.json(kind: property?.attribute?.kind)
      case .splice(let splices): .string(splices.map(\.insertion).joined(separator: " … "))
      case .members, .place: nil
      }
    }
  }

  struct Retry: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "retry", abstract: "Send an edit again that is in conflict.",
      discussion: "The policy decides what becomes of both values: objectTrump takes yours, storeTrump theirs.")
    @OptionGroup var options: CommonOptions
    @Argument(help: "The edit's number, as stickies sync conflicts shows it.") var number: Int64
    @Option(parsing: .unconditional, help: "The merge policy; default: the edit's own.") var policy: PolicyName?

    @MainActor
    func run() async throws {
      let replica = try OfflineConnection.replica(of: options.address)
      try replica.retry(number, policy: policy?.policy, model: StickiesModel.model)
      try await SyncOutput.sendQueued(options)
    }
  }

  struct Edit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "edit", abstract: "Change an edit that is in conflict in your editor, and send it again.",
      discussion: "The editor shows the edit in its JSON form, which \"stickies sync export\" prints, too.")
    @OptionGroup var options: CommonOptions
    @Argument(help: "The edit's number, as stickies sync conflicts shows it.") var number: Int64

    @MainActor
    func run() async throws {
      let replica = try OfflineConnection.replica(of: options.address)
      let form = try replica.form(of: number, model: StickiesModel.model)
      let editor = try await Editor.edit(form)
      let text = editor.text
      let place = "your text is in \(editor.file)"
      if text == form {
        throw Refusal(.invalid, "the edit is unchanged; stickies sync retry \(number) sends it again; \(place)")
      }
      do {
        try replica.replace(number, by: text, model: StickiesModel.model)
      } catch {
        SyncOutput(options, replica).output.message(place)
        throw error
      }
      editor.discard()
      try await SyncOutput.sendQueued(options)
    }
  }

  struct Discard: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "discard", abstract: "Remove an edit that was not sent or is in conflict.",
      discussion: "Later edits of an object that only this edit would have made are removed with it; they need --yes.")
    @OptionGroup var options: CommonOptions
    @Argument(help: "The edit's number, as stickies sync conflicts shows it.") var number: Int64
    @Flag(help: "Also remove the edits that depend on it.") var yes = false

    @MainActor
    func run() async throws {
      let replica = try OfflineConnection.replica(of: options.address)
      let unsent = try replica.openUnsent()
      defer { unsent.close() }
      let form = IntentForm(StickiesModel.model)
      let others = try unsent.dependents(of: number, form: form).filter { $0 != number }
      guard others.isEmpty || yes else {
        throw Refusal(
          .denied,
          "\(Output.count(others.count, "later edit")) change an object that edit \(number) would have made: "
            + "use --yes to remove them, too")
      }
      let forms = try unsent.discard(number, form: form)
      let output = SyncOutput(options, replica).output
      if output.json {
        output.print(JSON.array(try forms.map { try JSON(parsingEnvelope: $0.utf8) }))
      } else {
        output.print("\(Output.count(forms.count, "edit")) removed")
      }
    }
  }

  struct Export: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "export", abstract: "Print an edit that was not sent, or all of them, one in each line.")
    @OptionGroup var options: CommonOptions
    @Argument(help: "The edit's number; default: all.") var number: Int64?

    /// The edits that are in memory at a time.
    private static let page = 500

    @MainActor
    func run() async throws {
      let replica = try OfflineConnection.replica(of: options.address)
      let unsent = try replica.openUnsent()
      defer { unsent.close() }
      let output = SyncOutput(options, replica).output
      if let number {
        guard let entry = try unsent.entry(number, form: IntentForm(StickiesModel.model)) else {
          throw Refusal(.notFound, "there is no unsent edit \(number)")
        }
        return output.print(entry.form)
      }
      var page = try unsent.forms(after: 0, limit: Self.page)
      while let last = page.last {
        for entry in page { output.print(entry.form) }
        page = try unsent.forms(after: last.number, limit: Self.page)
      }
    }
  }

  struct Take: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "take",
      abstract: "Take the edits of a file that \"stickies sync export\" or a browser has written.",
      discussion: """
        They get numbers of their own, and are sent like edits that were made here. All are taken in one step. One that \
        the copy does not allow is in conflict; undos are left out.
        """)
    @OptionGroup var options: CommonOptions
    @Argument(help: "The file, with one edit in each line.", completion: .file()) var file: String

    @MainActor
    func run() async throws {
      guard let bytes = FileManager.default.contents(atPath: file), let text = String(validating: bytes, as: UTF8.self)
      else { throw Refusal(.unavailable, "\(file) can't be read as text") }
      let replica = try OfflineConnection.replica(of: options.address)
      // By bytes: CR and LF are one character, and JSON may have a line separator in a string.
      let lines = text.utf8.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
        .filter { !$0.allSatisfy(\.isWhitespace) }
      let taken = try replica.take(lines, model: StickiesModel.model)
      let output = SyncOutput(options, replica).output
      if output.json {
        output.print(
          JSON.object([
            .init("taken", .array(taken.numbers.map(JSON.integer))),
            .init("parked", .array(taken.parked.map(JSON.integer))), .init("undos", .integer(Int64(taken.undos))),
          ]))
        return
      }
      output.print("\(Output.count(taken.numbers.count, "edit")) taken; stickies sync now sends them")
      if !taken.parked.isEmpty { output.print("\(taken.parked.count) in conflict (stickies sync conflicts)") }
      if taken.undos > 0 {
        output.message("\(Output.count(taken.undos, "undo")) left out: only the replica that made it can send it")
      }
    }
  }
}
