import GraphModel
import GraphReplica
import TerminalApplication
import TerminalCells

/// The services of every part of the screen: the application with its clock, the graph, the connection to the server,
/// and the status line. It has no state of its own.
struct BoardServices {
  let application: Application
  let context: ObjectContext
  let link: BoardConnection
  let rights: BoardRights
  /// Groups the changes of a gesture or an editor into one undo step.
  let undoScope: UndoScope
  let status: StatusMessages
  let clipboard: TextClipboard
  let modals: ModalPresenter
  let appearance: BoardAppearance

  init(_ application: Application, in context: ObjectContext, scope: UndoScope, link: BoardConnection) {
    (self.application, self.context, self.link, undoScope) = (application, context, link, scope)
    rights = BoardRights(context.model, link.rights)
    status = StatusMessages(application)
    clipboard = TextClipboard(status: status, link: link)
    modals = ModalPresenter(application)
    appearance = BoardAppearance()
  }
}

/// A part of the screen. It owns its state and receives the parts that it uses through its initializer; it notifies
/// parts that are built on it through closures or a delegate.
protocol BoardPart {
  var services: BoardServices { get }
}

extension BoardPart {
  var application: Application { services.application }
  var context: ObjectContext { services.context }
  var link: BoardConnection { services.link }
  var undoScope: UndoScope { services.undoScope }
  var theme: Theme { services.appearance.theme }
  var layouts: LayoutCache { services.appearance.layouts }
  var now: Int64 { services.application.now }
  var rights: BoardRights { services.rights }

  /// Shows a message in the status line for a while.
  /// - Parameter gone: the notes that it reports as deleted; the message disappears when one of them is restored.
  func report(_ text: String, isTrouble: Bool = false, gone: Set<ObjectID> = []) {
    services.status.show(text, isTrouble: isTrouble, gone: gone)
  }
}

/// The theme and the laid out texts that all views of a screen share.
final class BoardAppearance {
  var theme = Theme()
  let layouts = LayoutCache(capacity: BoardPage.maximumNotes)
}
