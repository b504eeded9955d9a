import StickiesKit

let client = try await Stickies.connect()
for note in try await client.fetch(Note.self, where: { $0.color == .yellow }) { print(note.number, note.text) }

let note = Note(in: client.context)
note.text = "Written from Swift"
note.board = try await client.fetch(Board.self).first
if let phone = try await client.fetch(Tag.self, where: { $0.name == "phone" }).first { note.tags.insert(phone) }
try await client.save()  // on the daemon's disk when it returns
print("saved as #\(note.number)")
await client.close()
