import TerminalApplication
import TerminalCells

extension Command {
  static let quit = Command("quit")
  static let save = Command("save")
  static let open = Command("open")
}

/// The events, line by line.
final class Log {
  private(set) var lines = [String]()
  func add(_ line: String) { lines.append(line) }
  /// The lines since the last call.
  func take() -> [String] {
    defer { lines = [] }
    return lines
  }
}

/// A window that records the calls it gets, and accepts the commands that a test names.
final class FakeWindow: Window {
  let log: Log
  var takes = Set<Key>()
  var takesMouse = false

  init(_ title: String, _ log: Log, frame: Rect) {
    self.log = log
    super.init(frame: frame, title: title)
  }

  override func keyDown(_ key: KeyEvent) -> Bool {
    log.add("\(title): \(KeyEquivalent(key.key, key.modifiers))")
    return takes.contains(key.key)
  }

  override func mouse(_ mouse: MouseEvent) -> Bool {
    log.add("\(title): \(mouse.kind) at \(mouse.position.x),\(mouse.position.y)")
    return takesMouse
  }

  override func draw(into grid: inout Grid, frame: Rect, clip: Rect) {
    grid.draw(title, x: frame.minX, y: frame.minY, clip: clip)
  }

  override func update() { log.add("\(title) updates") }
  override func didBecomeKey() { log.add("\(title) is key") }
  override func didResignKey() { log.add("\(title) resigned key") }
  override func screenDidResize(_ size: Size) { log.add("\(title): screen \(size.width)x\(size.height)") }
}

final class FakeController: WindowController {
  let log: Log
  var takes = Set<Key>()

  init(_ window: Window, _ application: Application?, _ log: Log) {
    self.log = log
    super.init(window: window, application: application)
  }

  override func keyDown(_ key: KeyEvent) -> Bool {
    log.add("controller: \(KeyEquivalent(key.key, key.modifiers))")
    return takes.contains(key.key)
  }

  override func mouse(_ mouse: MouseEvent) -> Bool {
    log.add("controller: \(mouse.kind) at \(mouse.position.x),\(mouse.position.y)")
    return true
  }
}

final class FakeApplication: Application {
  var log: Log?
  var accepted = EventMask.any
  override var acceptedEvents: EventMask { accepted }
  override func keyDown(_ key: KeyEvent) -> Bool {
    log?.add("application: \(KeyEquivalent(key.key, key.modifiers))")
    return false
  }
}

final class FakeDelegate: ApplicationDelegate {
  let log: Log
  var reply = TerminateReply.now
  init(_ log: Log) { self.log = log }
  override func keyDown(_ key: KeyEvent) -> Bool {
    log.add("delegate: \(KeyEquivalent(key.key, key.modifiers))")
    return false
  }
  override func applicationWillFinishLaunching(_ application: Application) { log.add("will finish launching") }
  override func applicationDidFinishLaunching(_ application: Application) { log.add("did finish launching") }
  override func applicationShouldTerminate(_ application: Application) -> TerminateReply {
    log.add("should terminate")
    return reply
  }
  override func applicationWillTerminate(_ application: Application) { log.add("will terminate") }
  override func application(_ application: Application, didReceive deltas: Set<UInt64>) {
    log.add("deltas \(deltas.sorted())")
  }
  override func applicationConnectionDidChange(_ application: Application) { log.add("connection") }
  override func application(_ application: Application, didResize size: Size) {
    log.add("resized to \(size.width)x\(size.height)")
  }
  override func application(_ application: Application, didReceive signal: ApplicationSignal) {
    log.add("signal \(signal)")
  }
}

/// An application with two windows, `back` and `front`; the front one has a controller.
final class ApplicationTranscript {
  let log = Log()
  let launcher = ApplicationLauncher()
  let application: FakeApplication
  let delegate: FakeDelegate
  let back: FakeWindow
  let front: FakeWindow
  let controller: FakeController

  static let menuBar = Menu(
    "",
    [
      .submenu(
        Menu(
          "File",
          [
            .command(MenuCommand("Open", .open, KeyEquivalent(.character("o")))),
            .command(MenuCommand("Save", .save, KeyEquivalent(.character("s"), .control))),
            .separator,
            .command(MenuCommand("Quit", .quit, KeyEquivalent(.character("q"), .control))),
          ]))
    ])

  struct MissingWindow: Error {}

  init(capacity: Int = 1_024) throws {
    let log = log
    back = FakeWindow("back", log, frame: Rect(x: 0, y: 0, width: 20, height: 5))
    front = FakeWindow("front", log, frame: Rect(x: 10, y: 2, width: 10, height: 4))
    let windows = [back, front]
    launcher.register(application: FakeApplication.self, as: "Fake")
    launcher.register(interface: "Main") { _ in
      MainInterface(menuBar: Self.menuBar, windows: windows)
    }
    let made = try launcher.launch(
      ApplicationConfiguration(application: "Fake", interface: "Main", queueCapacity: capacity),
      screenSize: Size(width: 40, height: 8))
    guard let application = made as? FakeApplication else { throw MissingWindow() }
    self.application = application
    application.log = log
    delegate = FakeDelegate(log)
    application.delegate = delegate
    controller = FakeController(front, application, log)
    try application.finishLaunching()
  }

  /// Launched, drawn once, and nothing to say.
  static func running(capacity: Int = 1_024) throws -> ApplicationTranscript {
    let script = try ApplicationTranscript(capacity: capacity)
    _ = script.application.runTurn(at: 0)
    _ = script.log.take()
    return script
  }

  func post(_ kind: ApplicationEvent.Kind, at time: Int64 = 0) {
    application.post(ApplicationEvent(kind, at: time))
  }

  func key(_ character: Character, _ modifiers: Modifiers = []) {
    post(.key(KeyEvent(.character(character), modifiers)))
  }

  func mouse(_ kind: MouseEvent.Kind, _ x: Int, _ y: Int) {
    post(.mouse(MouseEvent(kind, at: Point(x: x, y: y))))
  }

  /// A turn, without the windows' updates.
  func turn(at time: Int64 = 0) -> [String] {
    _ = application.runTurn(at: time)
    return log.take().filter { !$0.hasSuffix(" updates") }
  }
}
