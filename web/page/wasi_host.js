// Runs a program of WASI over files in memory: what the command needs of the system, and no more.

const ERRNO = { BADF: 8, EXIST: 20, INVAL: 28, ISDIR: 31, NOENT: 44, NOSYS: 52, NOTDIR: 54 };
const FILETYPE = { DEVICE: 2, FOLDER: 3, FILE: 4 };
const ROOT_FD = 3, OPEN_CREATE = 1;
const encoder = new TextEncoder(), decoder = new TextDecoder();

class Exit {
  constructor(code) {
    this.code = code;
  }
}

/** Paths to Uint8Array. Folders are those that a file's path names. */
export class MemoryFiles {
  constructor() {
    this.files = new Map();
  }

  put(path, bytes) {
    this.files.set(path, bytes);
  }

  remove(path) {
    this.files.delete(path);
  }

  isFolder(path) {
    const prefix = path === "/" ? "/" : path + "/";
    if (path === "/") return true;
    for (const name of this.files.keys()) if (name.startsWith(prefix)) return true;
    return false;
  }

  list(path) {
    const prefix = path === "/" ? "/" : path + "/", names = new Map();
    for (const name of this.files.keys()) {
      if (!name.startsWith(prefix)) continue;
      const [first, ...rest] = name.slice(prefix.length).split("/");
      names.set(first, rest.length ? FILETYPE.FOLDER : FILETYPE.FILE);
    }
    return [...names];
  }
}

function joined(base, path) {
  const parts = [];
  for (const part of (path.startsWith("/") ? path : `${base}/${path}`).split("/")) {
    if (part === "..") parts.pop();
    else if (part && part !== ".") parts.push(part);
  }
  return "/" + parts.join("/");
}

class Process {
  constructor(files, args, stdin, environment) {
    this.files = files;
    this.args = ["callsign", ...args].map((arg) => encoder.encode(arg + "\0"));
    this.environment = environment.map((text) => encoder.encode(text + "\0"));
    this.output = { 1: [], 2: [] };
    this.open = new Map([[0, { bytes: stdin, at: 0 }], [ROOT_FD, { folder: "/" }]]);
    this.next = ROOT_FD + 1;
  }

  get view() { return new DataView(this.memory.buffer); }
  bytes(at, size) { return new Uint8Array(this.memory.buffer, at, size); }
  path(fd, at, size) {
    const base = this.open.get(fd);
    return joined(base?.folder ?? "/", decoder.decode(this.bytes(at, size)));
  }

  vectors(at, count, each) {
    let total = 0;
    for (let i = 0; i < count; i++) {
      const done = each(this.bytes(this.view.getUint32(at + 8 * i, true), this.view.getUint32(at + 8 * i + 4, true)));
      total += done;
    }
    return total;
  }

  putStrings(list, pointers, buffer) {
    for (const [i, item] of list.entries()) {
      this.view.setUint32(pointers + 4 * i, buffer, true);
      this.bytes(buffer, item.length).set(item);
      buffer += item.length;
    }
    return 0;
  }

  putSizes(list, count, size) {
    this.view.setUint32(count, list.length, true);
    this.view.setUint32(size, list.reduce((sum, item) => sum + item.length, 0), true);
    return 0;
  }

  putStat(at, type, size, inode) {
    this.bytes(at, 64).fill(0);
    this.view.setBigUint64(at + 8, BigInt(inode), true);
    this.view.setUint8(at + 16, type);
    this.view.setBigUint64(at + 24, 1n, true);
    this.view.setBigUint64(at + 32, BigInt(size), true);
    return 0;
  }

  inode(path) {
    let number = 1;
    for (const name of this.files.files.keys()) {
      number++;
      if (name === path) return number;
    }
    return 1;
  }

  readInto(file, vectors, count, at, out) {
    let pos = at;
    const total = this.vectors(vectors, count, (to) => {
      const part = file.bytes.subarray(pos, pos + to.length);
      to.set(part);
      pos += part.length;
      return part.length;
    });
    this.view.setUint32(out, total, true);
    return total;
  }

  imports() {
    const p = this;
    const file = (fd) => p.open.get(fd);
    return {
      args_sizes_get: (count, size) => p.putSizes(p.args, count, size),
      args_get: (pointers, buffer) => p.putStrings(p.args, pointers, buffer),
      environ_sizes_get: (count, size) => p.putSizes(p.environment, count, size),
      environ_get: (pointers, buffer) => p.putStrings(p.environment, pointers, buffer),
      clock_time_get(clock, precision, out) {
        p.view.setBigUint64(out, BigInt(Math.round(performance.now() * 1e6)), true);
        return 0;
      },
      random_get(at, size) {
        crypto.getRandomValues(p.bytes(at, size));
        return 0;
      },
      sched_yield: () => 0,
      proc_exit(code) { throw new Exit(code); },
      fd_prestat_get(fd, out) {
        if (fd !== ROOT_FD) return ERRNO.BADF;
        p.view.setUint32(out, 0, true);
        p.view.setUint32(out + 4, 1, true);
        return 0;
      },
      fd_prestat_dir_name(fd, at) {
        p.bytes(at, 1)[0] = 0x2f;
        return 0;
      },
      fd_fdstat_get(fd, out) {
        const f = file(fd);
        if (!f && fd > 2) return ERRNO.BADF;
        p.bytes(out, 24).fill(0);
        p.view.setUint8(out, fd < ROOT_FD ? FILETYPE.DEVICE : f.folder ? FILETYPE.FOLDER : FILETYPE.FILE);
        p.view.setBigUint64(out + 8, 2n ** 64n - 1n, true);
        p.view.setBigUint64(out + 16, 2n ** 64n - 1n, true);
        return 0;
      },
      fd_fdstat_set_flags: () => 0,
      fd_filestat_get(fd, out) {
        const f = file(fd);
        if (!f) return fd < ROOT_FD ? p.putStat(out, FILETYPE.DEVICE, 0, 0) : ERRNO.BADF;
        return f.folder ? p.putStat(out, FILETYPE.FOLDER, 0, 1) : p.putStat(out, FILETYPE.FILE, f.bytes.length, p.inode(f.path));
      },
      path_filestat_get(fd, flags, at, size, out) {
        const path = p.path(fd, at, size), bytes = p.files.files.get(path);
        if (bytes) return p.putStat(out, FILETYPE.FILE, bytes.length, p.inode(path));
        return p.files.isFolder(path) ? p.putStat(out, FILETYPE.FOLDER, 0, 1) : ERRNO.NOENT;
      },
      path_open(fd, lookup, at, size, flags, rights, inheriting, fdFlags, out) {
        const path = p.path(fd, at, size), bytes = p.files.files.get(path);
        const create = !bytes && (flags & OPEN_CREATE);
        if (create) p.files.put(path, new Uint8Array(0));
        else if (!bytes && !p.files.isFolder(path)) return ERRNO.NOENT;
        p.open.set(p.next, create ? { path, bytes: new Uint8Array(0), at: 0, parts: [] } : bytes ? { path, bytes, at: 0 } : { folder: path });
        p.view.setUint32(out, p.next++, true);
        return 0;
      },
      path_rename(fd, at, size, toFd, toAt, toSize) {
        const from = p.path(fd, at, size), bytes = p.files.files.get(from);
        if (!bytes) return ERRNO.NOENT;
        p.files.remove(from);
        p.files.put(p.path(toFd, toAt, toSize), bytes);
        return 0;
      },
      path_unlink_file(fd, at, size) {
        return p.files.files.delete(p.path(fd, at, size)) ? 0 : ERRNO.NOENT;
      },
      fd_sync: () => 0,
      fd_filestat_set_size: () => 0,
      fd_allocate: () => 0,
      fd_pwrite(fd, vectors, count, offset, out) {
        return Number(offset) === file(fd)?.parts?.reduce((sum, part) => sum + part.length, 0) ? this.fd_write(fd, vectors, count, out) : ERRNO.NOSYS;
      },
      path_readlink: () => ERRNO.INVAL,
      fd_close(fd) {
        if (fd < ROOT_FD) return 0;
        return p.open.delete(fd) ? 0 : ERRNO.BADF;
      },
      fd_seek(fd, offset, whence, out) {
        const f = file(fd);
        if (!f?.bytes) return ERRNO.BADF;
        const to = Number(offset) + (whence === 0 ? 0 : whence === 1 ? f.at : f.bytes.length);
        if (to < 0) return ERRNO.INVAL;
        f.at = to;
        p.view.setBigUint64(out, BigInt(to), true);
        return 0;
      },
      fd_read(fd, vectors, count, out) {
        const f = file(fd);
        if (!f) return ERRNO.BADF;
        if (!f.bytes) return ERRNO.ISDIR;
        f.at += p.readInto(f, vectors, count, f.at, out);
        return 0;
      },
      fd_pread(fd, vectors, count, offset, out) {
        const f = file(fd);
        if (!f?.bytes) return ERRNO.BADF;
        p.readInto(f, vectors, count, Number(offset), out);
        return 0;
      },
      fd_write(fd, vectors, count, out) {
        const f = file(fd), to = p.output[fd] ?? f?.parts; // a new file is written from front to back
        if (!to) return ERRNO.BADF;
        const total = p.vectors(vectors, count, (part) => {
          to.push(part.slice());
          return part.length;
        });
        if (f?.parts) p.files.put(f.path, joinedBytes(f.parts));
        p.view.setUint32(out, total, true);
        return 0;
      },
      fd_readdir(fd, at, size, cookie, out) {
        const f = file(fd);
        if (!f?.folder) return ERRNO.NOTDIR;
        let used = 0;
        for (const [i, [name, type]] of p.files.list(f.folder).entries()) {
          if (i < Number(cookie)) continue;
          const entry = new Uint8Array(24 + encoder.encode(name).length), view = new DataView(entry.buffer);
          view.setBigUint64(0, BigInt(i + 1), true);
          view.setBigUint64(8, BigInt(i + 2), true);
          view.setUint32(16, entry.length - 24, true);
          view.setUint8(20, type);
          entry.set(encoder.encode(name), 24);
          const part = entry.subarray(0, Math.min(entry.length, size - used));
          p.bytes(at + used, part.length).set(part);
          used += part.length;
          if (used === size) break;
        }
        p.view.setUint32(out, used, true);
        return 0;
      },
    };
  }
}

/** Runs the command once. Gives its exit status, standard output and standard error. */
export async function runProgram(module, files, args, stdin = new Uint8Array(0)) {
  const process = new Process(files, args, stdin, ["CALLSIGN_CACHE=/no-cache", "DEBUGINFOD_URLS="]);
  const given = process.imports(), imports = { wasi_snapshot_preview1: {} };
  for (const { name } of WebAssembly.Module.imports(module)) imports.wasi_snapshot_preview1[name] = given[name]?.bind(given) ?? (() => ERRNO.NOSYS);
  const { exports } = await WebAssembly.instantiate(module, imports);
  process.memory = exports.memory;
  let code = 0;
  try {
    exports._start();
  } catch (error) {
    if (!(error instanceof Exit)) throw error;
    code = error.code;
  }
  return { code, stdout: joinedText(process.output[1]), stderr: joinedText(process.output[2]) };
}

function joinedBytes(parts) {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

const joinedText = (parts) => decoder.decode(joinedBytes(parts));
