// Sockets for node, with the interface of the browser's WebSocket.
import { createHash, randomBytes } from 'node:crypto';
import { connect } from 'node:net';

/** The parts of WebSocket that a connection uses. */
class Base {
  onopen = null;
  onmessage = null;
  onclose = null;
  isClosed = false;

  finish() {
    if (this.isClosed) return;
    this.isClosed = true;
    this.socket?.destroy();
    this.onclose?.({});
  }

  close() { this.finish(); }
}

/** The protocol over a plain socket, `unix:///path` or `tcp://host:port`: each message follows its length. */
export class FramedSocket extends Base {
  constructor(url) {
    super();
    const { protocol, hostname, port, pathname } = new URL(url);
    this.socket = protocol === 'unix:' ? connect(pathname) : connect(Number(port), hostname);
    let rest = Buffer.alloc(0);
    this.socket.on('connect', () => this.onopen?.({}));
    this.socket.on('data', (data) => {
      rest = rest.length ? Buffer.concat([rest, data]) : data;
      while (rest.length >= 4 && rest.length >= 4 + rest.readUInt32BE(0)) {
        const end = 4 + rest.readUInt32BE(0);
        const message = Uint8Array.from(rest.subarray(4, end));
        rest = rest.subarray(end);
        this.onmessage?.({ data: message.buffer });
      }
    });
    this.socket.on('error', () => this.finish());
    this.socket.on('close', () => this.finish());
  }

  send(bytes) {
    const frame = Buffer.alloc(4 + bytes.length);
    frame.writeUInt32BE(bytes.length, 0);
    frame.set(bytes, 4);
    this.socket.write(frame);
  }
}

/** A WebSocket client (RFC 6455) for `ws://` addresses; binary messages only. `headers` are those of its handshake. */
export function webSocket(headers = {}) {
  return class extends Base {
    constructor(url, protocol) {
      super();
      const { hostname, port, pathname, search } = new URL(url);
      const key = randomBytes(16).toString('base64');
      const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
      this.socket = connect(Number(port || 80), hostname);
      this.rest = Buffer.alloc(0);
      this.parts = [];
      this.isOpen = false;
      this.socket.on('connect', () => {
        const lines = Object.entries({
          Host: `${hostname}:${port || 80}`, Upgrade: 'websocket', Connection: 'Upgrade', 'Sec-WebSocket-Key': key,
          'Sec-WebSocket-Version': '13', 'Sec-WebSocket-Protocol': protocol, ...headers,
        }).map(([name, value]) => `${name}: ${value}\r\n`);
        this.socket.write(`GET ${pathname}${search} HTTP/1.1\r\n${lines.join('')}\r\n`);
      });
      this.socket.on('data', (data) => {
        this.rest = Buffer.concat([this.rest, data]);
        if (!this.isOpen) {
          const end = this.rest.indexOf('\r\n\r\n');
          if (end < 0) return;
          const head = this.rest.subarray(0, end).toString();
          this.rest = this.rest.subarray(end + 4);
          if (!/^HTTP\/1.1 101 /.test(head) || !head.includes(accept)) {
            this.refusal = head;
            return this.finish();
          }
          this.isOpen = true;
          this.onopen?.({});
        }
        this.readFrames();
      });
      this.socket.on('error', () => this.finish());
      this.socket.on('close', () => this.finish());
    }

    readFrames() {
      while (this.rest.length >= 2 && !this.isClosed) {
        const { rest } = this;
        let [length, start] = [rest[1] & 127, 2];
        if (length === 126) {
          if (rest.length < 4) return;
          [length, start] = [rest.readUInt16BE(2), 4];
        } else if (length === 127) {
          if (rest.length < 10) return;
          [length, start] = [Number(rest.readBigUInt64BE(2)), 10];
        }
        if (rest.length < start + length) return;
        const payload = Uint8Array.from(rest.subarray(start, start + length));
        this.rest = rest.subarray(start + length);
        const code = rest[0] & 15;
        if (code === 8) return this.finish();
        if (code === 9) this.frame(10, payload);
        if (code > 2) continue;
        this.parts.push(payload);
        if (rest[0] & 128) {
          const message = this.parts.length === 1 ? payload : Uint8Array.from(Buffer.concat(this.parts));
          this.parts = [];
          this.onmessage?.({ data: message.buffer });
        }
      }
    }

    send(bytes) { this.frame(2, bytes); }

    frame(code, bytes) {
      const size = bytes.length < 126 ? 2 : bytes.length < 65536 ? 4 : 10;
      const frame = Buffer.alloc(size + 4 + bytes.length);
      frame[0] = 128 | code;
      frame[1] = 128 | (size === 2 ? bytes.length : size === 4 ? 126 : 127);
      if (size === 4) frame.writeUInt16BE(bytes.length, 2);
      if (size === 10) frame.writeBigUInt64BE(BigInt(bytes.length), 2);
      const mask = randomBytes(4);
      frame.set(mask, size);
      for (let index = 0; index < bytes.length; index++) frame[size + 4 + index] = bytes[index] ^ mask[index & 3];
      this.socket.write(frame);
    }
  };
}
