// What a table shows of an ID: its last eight characters, which are random. The first ones of a run's ID are the time,
// the same for runs started within a minute. The command line takes the short form too.
export const shortId = (id: string) => id.slice(-8)
