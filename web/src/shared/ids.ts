// The short form of an ID: its last eight characters, which are random. The first characters are the time, which is
// the same for runs that start within a minute. The CLI accepts the short form too.
export const shortId = (id: string) => id.slice(-8)
