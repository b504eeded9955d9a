import Observation
import StickiesKit

// Prints the pink notes, and prints them again when the list changes, until the daemon stops.
let client = try await Stickies.connect(reconnects: false)
let notes = client.liveResults(Note.self, where: { $0.color == .pink }, sort: [\.number])
while notes.failure == nil {
  await withCheckedContinuation { changed in
    // The list that the closure reads is the one that is observed. A front end such as SwiftUI does the same.
    withObservationTracking {
      if !notes.isLoading { print("\(notes.revision): \(notes.objects.map(\.text))") }
      _ = notes.failure
    } onChange: {
      changed.resume()
    }
  }
}
