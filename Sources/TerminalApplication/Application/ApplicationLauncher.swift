import TerminalCells

/// Names the class and the interface of an application, so that a settings file can choose them.
public struct ApplicationConfiguration: Hashable, Sendable {
  /// The name of the application's class.
  public var applicationName: String
  /// The name of the interface: the menu bar and the windows.
  public var interfaceName: String
  /// The maximum number of queued keys.
  public var queueCapacity: Int

  /// Creates a configuration from names that are registered with a launcher.
  public init(application: String, interface: String, queueCapacity: Int = 1_024) {
    applicationName = application
    interfaceName = interface
    self.queueCapacity = queueCapacity
  }
}

/// The menu bar and the windows of an application at launch.
public struct MainInterface {
  /// The menu bar, which contains every command with its key.
  public var menuBar: Menu
  /// The windows, from bottom to top.
  public var windows: [Window]

  /// Creates an interface.
  public init(menuBar: Menu, windows: [Window]) {
    self.menuBar = menuBar
    self.windows = windows
  }
}

/// The arguments that a launcher passes to an application; only a launcher can create them.
public struct LaunchArguments {
  let screenSize: Size
  let queueCapacity: Int
  let interface: (Application) throws -> MainInterface
}

/// An error of launching an application.
public enum ApplicationError: Error, Hashable, CustomStringConvertible {
  /// Another application is running.
  case secondApplication(running: String)
  /// No class is registered under the name.
  case unknownApplication(String, known: [String])
  /// No interface is registered under the name.
  case unknownInterface(String, known: [String])
  /// The menu bar has problems.
  case menu([String])

  public var description: String {
    switch self {
    case .secondApplication(let running):
      "the application '\(running)' is already running; a program can have only one"
    case .unknownApplication(let name, let known):
      "no application is called '\(name)'; the applications are \(known.joined(separator: ", "))"
    case .unknownInterface(let name, let known):
      "no interface is called '\(name)'; the interfaces are \(known.joined(separator: ", "))"
    case .menu(let problems): problems.joined(separator: "\n")
    }
  }
}

/// Creates the application that a configuration names. A program has one launcher, and a launcher runs one
/// application at a time.
public final class ApplicationLauncher {
  private var applications = [String: Application.Type]()
  private var interfaces = [String: (Application) throws -> MainInterface]()
  /// The running application, retained until another one is launched.
  public private(set) var application: Application?
  private var runningName = ""

  /// Creates a launcher without registrations.
  public init() {}

  /// Registers a class under a name.
  public func register(application: Application.Type, as name: String) { applications[name] = application }

  /// Registers an interface under a name; it is created when the application finishes launching.
  public func register(interface name: String, make: @escaping (Application) throws -> MainInterface) {
    interfaces[name] = make
  }

  /// Creates the application without launching it: set its delegate, then call `finishLaunching`.
  /// - Throws: `ApplicationError` for an unknown name, or if another application has not ended.
  public func launch(_ configuration: ApplicationConfiguration, screenSize: Size) throws -> Application {
    if let application, !application.hasEnded { throw ApplicationError.secondApplication(running: runningName) }
    let name = configuration.applicationName
    guard let type = applications[name] else {
      throw ApplicationError.unknownApplication(name, known: applications.keys.sorted())
    }
    guard let interface = interfaces[configuration.interfaceName] else {
      throw ApplicationError.unknownInterface(configuration.interfaceName, known: interfaces.keys.sorted())
    }
    let made = type.init(
      LaunchArguments(screenSize: screenSize, queueCapacity: configuration.queueCapacity, interface: interface))
    (application, runningName) = (made, name)
    return made
  }
}
