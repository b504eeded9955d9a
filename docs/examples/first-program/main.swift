import StickiesKit

let client = try await Stickies.connect()
for try await notes in client.live(Note.self, where: { $0.color == .yellow }, sort: [\.number]) {
  print(notes.map(\.text))
  break  // without this line, the loop goes on with each change
}
let note = Note(in: client.context)
note.text = "Written from Swift"
note.board = try await client.fetchOne(Board.self)
if let phone = try await client.fetchOne(Tag.self, where: { $0.name == "phone" }) { note.tags.insert(phone) }
try await client.save()  // on the daemon's disk when it returns
