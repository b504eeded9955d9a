import GraphClient

// `swift run core-data-notes SERVER`: the notes of an app that used Core Data. Its model was converted with
// `graph-generate convert`, and its store imported with `stickies graph import --core-data`.
if CommandLine.arguments.count == 2, let server = try? ServerAddress(parsing: CommandLine.arguments[1]) {
  try await NotesModel.withClient(to: server, author: "ann@example") { client in
    let notes = try await client.fetch(IDMNote.self, sort: [\.uniqueIdentifier], prefetch: [\.tags])
    for note in notes {
      let line = note.text?.split(separator: "\n").first ?? "no text"
      print("\(note.uniqueIdentifier): \(line) \(note.tags.map(\.text).sorted())")
    }

    // Other clients see the change at once, which the app's own store could not do.
    if let red = try await client.fetchOne(IDMTag.self, where: { $0.text == "red" }) {
      for note in notes where note.tags.isEmpty { note.tags.insert(red) }
      try await client.save()
    }
    let count = try await client.count(of: IDMNote.self, where: { $0.tags.contains { $0.text == "red" } })
    print("\(count) notes are red")
  }
} else {
  print("usage: core-data-notes tcp://HOST:PORT|unix:///PATH")
}
