import TerminalApplication

/// Opens modal windows, which get keys and mouse first.
final class ModalPresenter {
  /// Called before a window opens: drags end, because the release of the button will not be reported.
  var willBegin: () -> Void = {}
  private let application: Application

  init(_ application: Application) { self.application = application }

  func begin(_ window: Window) {
    willBegin()
    application.beginModal(window)
  }
}
