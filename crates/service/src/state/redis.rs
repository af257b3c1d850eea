//! The state on a Redis server or a Redis Cluster, shared by several machines.
//!
//! | key | kind | what |
//! |---|---|---|
//! | `PREFIX{format}` | string | `1` |
//! | `PREFIX{iXXX}` | sorted set, by bytes | index: key (8 bytes) and campaign (8 bytes), in 4,096 sets by the key's first 12 bits |
//! | `PREFIX{c…}` | string | a campaign: version (8 bytes), record |
//! | `PREFIX{nXX}` | sorted set, by bytes | names of campaigns, in 256 sets by the first byte |
//! | `PREFIX{r}` | set | names of reporters |
//! | `PREFIX{r}:NAME` | hash | a reporter |
//!
//! What stands between braces decides the slot of a cluster: index and campaigns spread over all nodes,
//! reporters, who are few, lie together. A campaign changes by a script that compares its version first,
//! so that of two machines that change it at once one decides anew. Index entries are written before
//! the campaign and removed after it: whoever reads in between finds an entry too many, which is
//! harmless, and never one too few.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use redis::cluster::{ClusterClientBuilder, ClusterConnection, cluster_pipe};
use redis::{Cmd, FromRedisValue, RedisError, Value, cmd};

use super::{Change, Committed, FORMAT, Owners, State, StateError, Stored, decode, encode};
use crate::campaign::CampaignId;
use crate::reputation::{Reporter, Standing};

/// How long a server may take to be reached or to answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// Commands that go together in one round.
const TOGETHER: usize = 1000;
/// Connections that are kept for the next call.
const KEPT: usize = 16;

/// Writes or removes a record if its version is the one expected.
const CHANGE: &str = "local now = redis.call('GET', KEYS[1]) \
    local version = now and string.sub(now, 1, 8) or '' \
    if version ~= ARGV[1] then return 0 end \
    if ARGV[2] == '' then redis.call('DEL', KEYS[1]) else redis.call('SET', KEYS[1], ARGV[2]) end \
    return 1";

/// The state on a Redis server or cluster.
pub struct Redis {
    servers: Servers,
    prefix: String,
    place: String,
    idle: Mutex<Vec<Connection>>,
}

enum Servers {
    One(redis::Client),
    Cluster(redis::cluster::ClusterClient),
}

enum Connection {
    One(redis::Connection),
    Cluster(Box<ClusterConnection>),
}

impl Redis {
    /// Whether this names a Redis place: `redis://HOST:PORT[/DB]` or `redis-cluster://HOST:PORT[,HOST:PORT...]`.
    pub fn is_address(place: &str) -> bool {
        place.starts_with("redis://") || place.starts_with("redis-cluster://")
    }

    /// Reaches the server or cluster. All keys begin with `prefix`.
    pub fn open(address: &str, prefix: &str) -> Result<Self, StateError> {
        let place = without_password(address);
        let failed = |error: RedisError| StateError::Failed {
            place: place.clone(),
            what: error.to_string(),
        };
        let servers = match address.strip_prefix("redis-cluster://") {
            Some(nodes) => {
                let nodes: Vec<String> = nodes
                    .split(',')
                    .map(|node| format!("redis://{node}"))
                    .collect();
                let client = ClusterClientBuilder::new(nodes)
                    .connection_timeout(PATIENCE)
                    .response_timeout(PATIENCE)
                    .build();
                Servers::Cluster(client.map_err(failed)?)
            }
            None => Servers::One(redis::Client::open(address).map_err(failed)?),
        };
        let state = Self {
            servers,
            prefix: prefix.to_owned(),
            place,
            idle: Mutex::default(),
        };
        let key = state.key("format");
        let answers = state.run(vec![
            cmd("SETNX").arg(&key).arg(FORMAT).to_owned(),
            cmd("GET").arg(&key).to_owned(),
        ])?;
        let found: String = state.value(answers.into_iter().nth(1))?;
        if found != FORMAT.to_string() {
            return Err(StateError::Format {
                place: state.place,
                found,
                reads: FORMAT,
            });
        }
        Ok(state)
    }

    fn key(&self, tag: &str) -> String {
        format!("{}{{{tag}}}", self.prefix)
    }

    fn index_key(&self, key: u64) -> String {
        self.key(&format!("i{:03x}", key >> 52))
    }

    fn campaign_key(&self, id: CampaignId) -> String {
        self.key(&format!("c{id}"))
    }

    fn names_key(&self, bucket: u64) -> String {
        self.key(&format!("n{bucket:02x}"))
    }

    fn reporter_key(&self, name: &str) -> String {
        format!("{}:{name}", self.key("r"))
    }

    fn connect(&self) -> Result<Connection, RedisError> {
        match &self.servers {
            Servers::One(client) => {
                let connection = client.get_connection_with_timeout(PATIENCE)?;
                connection.set_read_timeout(Some(PATIENCE))?;
                connection.set_write_timeout(Some(PATIENCE))?;
                Ok(Connection::One(connection))
            }
            Servers::Cluster(client) => Ok(Connection::Cluster(Box::new(client.get_connection()?))),
        }
    }

    /// Runs commands, in as few rounds as they fit into, and returns their answers.
    fn run(&self, commands: Vec<Cmd>) -> Result<Vec<Value>, StateError> {
        let mut answers = Vec::with_capacity(commands.len());
        for some in commands.chunks(TOGETHER) {
            answers.extend(self.round(some).map_err(|error| self.failed(&error))?);
        }
        Ok(answers)
    }

    fn round(&self, commands: &[Cmd]) -> Result<Vec<Value>, RedisError> {
        let idle = self.idle().pop();
        if let Some(mut connection) = idle {
            match connection.run(commands) {
                Ok(answers) => {
                    self.keep(connection);
                    return Ok(answers);
                }
                // It may have been closed while it was idle. All commands can be said twice.
                Err(error) if error.is_io_error() || error.is_connection_dropped() => {}
                Err(error) => return Err(error),
            }
        }
        let mut connection = self.connect()?;
        let answers = connection.run(commands)?;
        self.keep(connection);
        Ok(answers)
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep(&self, connection: Connection) {
        let mut idle = self.idle();
        if idle.len() < KEPT {
            idle.push(connection);
        }
    }

    fn failed(&self, error: &RedisError) -> StateError {
        StateError::Failed {
            place: self.place.clone(),
            what: error.to_string(),
        }
    }

    fn value<T: FromRedisValue>(&self, value: Option<Value>) -> Result<T, StateError> {
        T::from_redis_value(value.unwrap_or(Value::Nil)).map_err(|error| StateError::Failed {
            place: self.place.clone(),
            what: error.to_string(),
        })
    }

    fn read_reporters(&self, names: &[&str]) -> Result<Vec<Option<Reporter>>, StateError> {
        let ask = |name: &&str| {
            let mut command = cmd("HMGET");
            command.arg(self.reporter_key(name));
            command.arg(&["standing", "key", "reports", "confirmed", "disputed"]);
            command
        };
        let answers = self.run(names.iter().map(ask).collect())?;
        answers
            .into_iter()
            .map(|answer| {
                let fields: Vec<Option<String>> = self.value(Some(answer))?;
                let [standing, key, reports, confirmed, disputed] = fields.as_slice() else {
                    return Ok(None);
                };
                if fields.iter().all(Option::is_none) {
                    return Ok(None);
                }
                let number = |field: &Option<String>| {
                    let number = field.as_deref().and_then(|text| text.parse::<i64>().ok());
                    number.and_then(|n| u64::try_from(n).ok()).unwrap_or(0)
                };
                Ok(Some(Reporter {
                    standing: match standing.as_deref() {
                        Some("trusted") => Standing::Trusted,
                        Some("blocked") => Standing::Blocked,
                        _ => Standing::Unknown,
                    },
                    key: key.clone().filter(|key| !key.is_empty()),
                    reports: number(reports),
                    confirmed: number(confirmed),
                    disputed: number(disputed),
                }))
            })
            .collect()
    }
}

impl Connection {
    fn run(&mut self, commands: &[Cmd]) -> Result<Vec<Value>, RedisError> {
        match self {
            Self::One(connection) => {
                let mut pipe = redis::pipe();
                for command in commands {
                    pipe.add_command(command.clone());
                }
                pipe.query(connection)
            }
            Self::Cluster(connection) => {
                let mut pipe = cluster_pipe();
                for command in commands {
                    pipe.add_command(command.clone());
                }
                pipe.query(connection)
            }
        }
    }
}

/// Sixteen bytes whose order is that of key, then campaign.
fn entry(key: u64, id: u64) -> Vec<u8> {
    [key.to_be_bytes(), id.to_be_bytes()].concat()
}

fn with(sign: u8, bytes: &[u8]) -> Vec<u8> {
    [&[sign], bytes].concat()
}

/// The last eight bytes of an entry.
fn id_of(entry: &[u8]) -> Option<CampaignId> {
    let bytes = entry.last_chunk::<8>()?;
    Some(CampaignId(u64::from_be_bytes(*bytes)))
}

/// The address as it may be shown.
fn without_password(address: &str) -> String {
    let Some((scheme, rest)) = address.split_once("://") else {
        return address.to_owned();
    };
    let servers: Vec<&str> = rest
        .split(',')
        .map(|server| server.rsplit_once('@').map_or(server, |(_, server)| server))
        .collect();
    format!("{scheme}://{}", servers.join(","))
}

impl State for Redis {
    fn owners(&self, keys: &[u64], most: usize) -> Result<Vec<Owners>, StateError> {
        let ask = |&key: &u64| {
            let mut command = cmd("ZRANGEBYLEX");
            command.arg(self.index_key(key));
            command.arg(with(b'[', &entry(key, 0)));
            command.arg(with(b'[', &entry(key, u64::MAX)));
            command.arg("LIMIT").arg(0).arg(most + 1);
            command
        };
        let answers = self.run(keys.iter().map(ask).collect())?;
        answers
            .into_iter()
            .map(|answer| {
                let entries: Vec<Vec<u8>> = self.value(Some(answer))?;
                let more = entries.len() > most;
                let ids = entries.iter().take(most).filter_map(|one| id_of(one));
                Ok(Owners {
                    ids: ids.collect(),
                    more,
                })
            })
            .collect()
    }

    fn records(&self, ids: &[CampaignId]) -> Result<Vec<Option<Stored>>, StateError> {
        let ask = |&id: &CampaignId| cmd("GET").arg(self.campaign_key(id)).to_owned();
        let answers = self.run(ids.iter().map(ask).collect())?;
        ids.iter()
            .zip(answers)
            .map(|(id, answer)| {
                let bytes: Option<Vec<u8>> = self.value(Some(answer))?;
                let Some(bytes) = bytes else { return Ok(None) };
                bytes
                    .split_first_chunk::<8>()
                    .and_then(|(version, body)| {
                        Some(Stored {
                            version: u64::from_be_bytes(*version),
                            record: decode(body)?,
                        })
                    })
                    .map(Some)
                    .ok_or_else(|| StateError::Damaged {
                        place: self.place.clone(),
                        what: format!("campaign {id}"),
                    })
            })
            .collect()
    }

    fn names(&self, after: Option<CampaignId>, most: usize) -> Result<Vec<CampaignId>, StateError> {
        let mut names = Vec::new();
        let first = after.map_or(0, |after| after.0 >> 56);
        for bucket in first..256 {
            if names.len() >= most {
                break;
            }
            let from = match after {
                Some(after) if bucket == first => with(b'(', &after.0.to_be_bytes()),
                _ => b"-".to_vec(),
            };
            let mut command = cmd("ZRANGEBYLEX");
            command.arg(self.names_key(bucket)).arg(from).arg("+");
            command.arg("LIMIT").arg(0).arg(most - names.len());
            let answer = self.run(vec![command])?.into_iter().next();
            let found: Vec<Vec<u8>> = self.value(answer)?;
            names.extend(found.iter().filter_map(|one| id_of(one)));
        }
        Ok(names)
    }

    fn commit(&self, changes: &[Change]) -> Result<Committed, StateError> {
        let mut before = Vec::new();
        for change in changes.iter().filter(|change| change.record.is_some()) {
            let id = change.id.0;
            let mut name = cmd("ZADD");
            name.arg(self.names_key(id >> 56))
                .arg(0)
                .arg(&id.to_be_bytes());
            before.push(name);
            for &key in &change.added {
                let mut command = cmd("ZADD");
                command.arg(self.index_key(key)).arg(0).arg(entry(key, id));
                before.push(command);
            }
        }
        self.run(before)?;
        for change in changes {
            let mut command = cmd("EVAL");
            command.arg(CHANGE).arg(1).arg(self.campaign_key(change.id));
            match change.expected {
                0 => command.arg(""),
                version => command.arg(&version.to_be_bytes()),
            };
            match &change.record {
                None => command.arg(""),
                Some(record) => {
                    let version = (change.expected + 1).to_be_bytes();
                    command.arg([&version, encode(record).as_slice()].concat())
                }
            };
            let answer = self.run(vec![command])?.into_iter().next();
            if self.value::<i64>(answer)? != 1 {
                return Ok(Committed::Conflict);
            }
            self.run(self.after(change))?;
        }
        Ok(Committed::Done)
    }

    fn reporters(&self, names: &[&str]) -> Result<Vec<Option<Reporter>>, StateError> {
        self.read_reporters(names)
    }

    fn all_reporters(&self) -> Result<Vec<(String, Reporter)>, StateError> {
        let ask = cmd("SMEMBERS").arg(self.key("r")).to_owned();
        let answer = self.run(vec![ask])?.into_iter().next();
        let mut names: Vec<String> = self.value(answer)?;
        names.sort_unstable();
        let asked: Vec<&str> = names.iter().map(String::as_str).collect();
        let found = self.read_reporters(&asked)?;
        let known = names.iter().cloned().zip(found);
        Ok(known
            .filter_map(|(name, found)| Some((name, found?)))
            .collect())
    }

    fn set_reporter(&self, name: &str, reporter: Option<&Reporter>) -> Result<(), StateError> {
        let key = self.reporter_key(name);
        let commands = match reporter {
            None => vec![
                cmd("DEL").arg(&key).to_owned(),
                cmd("SREM").arg(self.key("r")).arg(name).to_owned(),
            ],
            Some(reporter) => {
                let mut set = cmd("HSET");
                set.arg(&key).arg("standing").arg(match reporter.standing {
                    Standing::Unknown => "unknown",
                    Standing::Trusted => "trusted",
                    Standing::Blocked => "blocked",
                });
                set.arg("key").arg(reporter.key.as_deref().unwrap_or(""));
                for (field, number) in [
                    ("reports", reporter.reports),
                    ("confirmed", reporter.confirmed),
                    ("disputed", reporter.disputed),
                ] {
                    set.arg(field).arg(number);
                }
                vec![cmd("SADD").arg(self.key("r")).arg(name).to_owned(), set]
            }
        };
        self.run(commands).map(drop)
    }

    fn place(&self) -> &str {
        &self.place
    }
}

impl Redis {
    /// What is to be done once a campaign has changed.
    fn after(&self, change: &Change) -> Vec<Cmd> {
        let id = change.id.0;
        let mut commands = Vec::new();
        if change.record.is_none() {
            let mut command = cmd("ZREM");
            command.arg(self.names_key(id >> 56)).arg(&id.to_be_bytes());
            commands.push(command);
        }
        for &key in &change.removed {
            let mut command = cmd("ZREM");
            command.arg(self.index_key(key)).arg(entry(key, id));
            commands.push(command);
        }
        for (name, tally) in &change.tallies {
            commands.push(cmd("SADD").arg(self.key("r")).arg(name).to_owned());
            for (field, number) in [
                ("reports", tally.reports),
                ("confirmed", tally.confirmed),
                ("disputed", tally.disputed),
            ] {
                if number != 0 || field == "reports" {
                    let mut command = cmd("HINCRBY");
                    command.arg(self.reporter_key(name)).arg(field).arg(number);
                    commands.push(command);
                }
            }
        }
        commands
    }
}
