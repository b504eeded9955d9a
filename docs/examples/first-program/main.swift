import StickiesKit

let client = try await Stickies.connect()
let following = Task {
  for try await notes in client.live(Note.self, where: { $0.pinned }, sort: [\.number]) { show(notes) }
}
let note = Note(in: client.context)
note.text = "Written from Swift"
note.pinned = true
note.board = try await client.fetchOne(Board.self)
if let phone = try await client.fetchOne(Tag.self, where: { $0.name == "phone" }) {
  note.tags.insert(phone)
}
try await client.save()  // on the daemon's disk when it returns
try await following.value

@MainActor func show(_ notes: LiveSnapshot<Note>) {
  print(notes.map(\.text))
  if notes.contains(where: { $0.text == note.text }) { following.cancel() }  // otherwise it goes on
}
