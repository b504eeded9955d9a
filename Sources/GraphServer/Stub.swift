import NIOCore
import NIOPosix
import ServiceLifecycle
