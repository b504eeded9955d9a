import GraphModel

extension BoardScreen: SaveControllerDelegate {
  var editedNote: NoteController? { editing }

  func saveControllerWillChange(_ controller: SaveController) {
    guard let action = quitting.somethingChanged() else { return }
    perform(action)
    // A user who is still typing must see that the program does not quit.
    report("stays: there is something new", isTrouble: true)
  }

  func saveControllerWasRefused(_ controller: SaveController) {
    perform(quitting.refused(unsent: controller.unsent.count))
  }

  func saveControllerDidFinish(_ controller: SaveController) { quitWhenSent() }

  func saveControllerDiscardsEdit(_ controller: SaveController) {
    editing?.endEditing()
    editing = nil
    undoScope.endGroup()
  }

  func saveController(_ controller: SaveController, offers text: String, because sentence: String) {
    offer(text, sentence)
  }
}

extension BoardScreen: SearchNavigator, SearchedList {
  var top: Int {
    get { list.top }
    set { list.top = newValue }
  }
  var focus: ObjectID? {
    get { list.focus }
    set { list.focus = newValue }
  }
}
