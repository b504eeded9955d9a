import GraphModel

extension BoardScreen: SaveControllerDelegate {
  var editedNote: NoteController? { editing.current }

  func saveControllerWillChange(_ controller: SaveController) { quitting.objectWillChange() }

  func saveControllerWasRefused(_ controller: SaveController) { quitting.saveWasRefused() }

  func saveControllerDidFinish(_ controller: SaveController) { quitting.quitWhenSent() }

  func saveControllerDiscardsEdit(_ controller: SaveController) { editing.discard() }

  func saveController(_ controller: SaveController, offers text: String, because sentence: String) {
    editing.offer(text, sentence)
  }
}
