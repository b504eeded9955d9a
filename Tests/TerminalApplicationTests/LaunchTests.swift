import TerminalApplication
import TerminalCells
import Testing

/// An application is named by its configuration, and there is one.
@Suite struct LaunchTests {
  private let size = Size(width: 40, height: 8)

  @Test func configurationSelectsClassAndInterface() throws {
    let script = try ApplicationTranscript()
    #expect(
      script.log.take() == [
        "will finish launching", "back is key", "back resigned key", "front is key",
        "did finish launching",
      ])
    #expect(script.application.phase == .running)
    #expect(script.application.windows.map(\.title) == ["back", "front"])
    #expect(script.application.menuBar == ApplicationTranscript.menuBar)
    try script.application.finishLaunching()
    #expect(script.log.take() == [])
  }

  @Test func secondApplicationIsRefusedUntilFirstEnds() throws {
    let script = try ApplicationTranscript()
    let configuration = ApplicationConfiguration(application: "Fake", interface: "Main")
    let error = #expect(throws: ApplicationError.self) {
      try script.launcher.launch(configuration, screenSize: size)
    }
    #expect(error?.description == "the application 'Fake' is already running; a program can have only one")
    script.application.terminate()
    #expect(throws: ApplicationError.secondApplication(running: "Fake")) {
      try script.launcher.launch(configuration, screenSize: size)
    }
    _ = script.application.runTurn(at: 0)
    let second = try script.launcher.launch(configuration, screenSize: size)
    #expect(second !== script.application)
  }

  @Test func unknownNamesListKnownOnes() throws {
    let launcher = ApplicationLauncher()
    launcher.register(application: FakeApplication.self, as: "Second")
    launcher.register(application: Application.self, as: "First")
    launcher.register(interface: "Main") { _ in MainInterface(menuBar: Menu("", []), windows: []) }
    let other = ApplicationConfiguration(application: "Other", interface: "Main")
    let error = #expect(throws: ApplicationError.self) { try launcher.launch(other, screenSize: size) }
    #expect(error?.description == "no application is called 'Other'; the applications are First, Second")
    let faceless = ApplicationConfiguration(application: "First", interface: "Bare")
    let missing = #expect(throws: ApplicationError.self) { try launcher.launch(faceless, screenSize: size) }
    #expect(missing?.description == "no interface is called 'Bare'; the interfaces are Main")
    #expect(launcher.application == nil)
    let made = try launcher.launch(
      ApplicationConfiguration(application: "Second", interface: "Main"), screenSize: size)
    #expect(made is FakeApplication)
  }

  /// The responder that answers.
  @Test(arguments: ["delegate", "application", "window"])
  func handledCommandWithoutMenuItemPreventsLaunch(place: String) throws {
    let launcher = ApplicationLauncher()
    let window = Window(frame: Rect(x: 0, y: 0, width: 5, height: 1))
    launcher.register(application: Application.self, as: "App")
    launcher.register(interface: "Main") { _ in
      MainInterface(menuBar: Menu("", [.command(MenuCommand("Open", .open, KeyEquivalent(.enter)))]), windows: [window])
    }
    let made = try launcher.launch(
      ApplicationConfiguration(application: "App", interface: "Main"), screenSize: size)
    let delegate = ApplicationDelegate()
    made.delegate = delegate
    delegate.on(.open) {}
    let responders: [String: Responder] = ["delegate": delegate, "application": made, "window": window]
    responders[place]?.on(.save) {}
    let error = #expect(throws: ApplicationError.self) { try made.finishLaunching() }
    #expect(error?.description == "the command 'save' is in no menu; add an item for it")
    #expect(made.phase == .made)
    #expect(made.runTurn(at: 0).eventCount == 0)
  }
}
