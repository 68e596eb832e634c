//! A rank of a run as lines. Keys stand in one order, so that readers can take a short cut and files can be compared.

use std::io::{self, Write};

use crate::trace::notation;
use crate::trace::record::{self, FORMAT, Record};
use crate::trace::run::{Distribution, Event, Index, Lane, Moved, Names, Pass, Run, SampleView, TransformKind, Worker};

/// Writes the records of one rank as a shard. Rank 0 also carries the faults of the run.
///
/// # Errors
/// What the writer says.
pub fn to_lines(run: &Run, rank: u32, out: &mut impl Write) -> io::Result<()> {
    let texts = Texts::new(&run.names);
    line(out, &Record::Process(process(run, rank)))?;
    for seeded in run.seedings.iter().filter(|seeded| seeded.rank == rank) {
        line(out, &Record::Seeding(seeded.call.clone()))?;
    }
    for loader in &run.loaders {
        line(out, &Record::Loader(loader.clone()))?;
    }
    for pass in run.passes.iter().filter(|pass| pass.rank == rank) {
        begin_pass(run, pass, out)?;
        let lanes = lanes(run, pass);
        for lane in lanes {
            write_lane(run, lane, &texts, out)?;
            end_lane(run, pass, lane, out)?;
        }
        end_pass(run, pass, out)?;
    }
    for (_, threads) in run.threads.iter().filter(|(of, _)| *of == rank) {
        line(out, &Record::Threads(threads.clone()))?;
    }
    if rank == 0 {
        for fault in &run.faults {
            line(out, &Record::Fault(fault.clone()))?;
        }
    }
    Ok(())
}

fn line(out: &mut impl Write, record: &Record) -> io::Result<()> {
    serde_json::to_writer(&mut *out, record)?;
    out.write_all(b"\n")
}

fn process(run: &Run, rank: u32) -> record::Process {
    record::Process {
        format: FORMAT,
        run: run.name.clone(),
        rank,
        world_size: run.world_size.max(1),
        libraries: run.libraries.clone(),
        cores: run.cores,
        ..record::Process::default()
    }
}

/// The lanes of a pass, which stand together.
fn lanes<'a>(run: &'a Run, pass: &Pass) -> &'a [Lane] {
    let key = (pass.loader, pass.epoch, pass.rank);
    let of = |lane: &Lane| (lane.loader, lane.epoch, lane.rank);
    let from = run.lanes.partition_point(|lane| of(lane) < key);
    let rest = &run.lanes[from..];
    &rest[..rest.partition_point(|lane| of(lane) == key)]
}

/// Where any pass says where its main process stood, all say that they count: a reader would leave out the others.
fn begin_pass(run: &Run, pass: &Pass, out: &mut impl Write) -> io::Result<()> {
    if run.starts.is_empty() {
        return Ok(());
    }
    let key = (pass.loader, pass.epoch, pass.rank);
    let start = run.starts.iter().find(|start| (start.loader, start.epoch, start.rank) == key);
    let states = start.map(|start| start.main.iter().map(|moved| named(&run.names, *moved)).collect());
    let record = record::Pass {
        loader: pass.loader,
        pass: pass.epoch,
        epoch: pass.epoch,
        base_seed: start.and_then(|start| start.base_seed),
        main: states.unwrap_or_default(),
    };
    line(out, &Record::Pass(record))
}

fn named(names: &Names, moved: Moved) -> (String, String) {
    let (name, algorithm) = &names.sources[usize::from(moved.source.0)];
    (name.clone(), notation::state(algorithm, moved.state))
}

fn has_workers(run: &Run, loader: u32) -> bool {
    run.loaders.get(loader as usize).is_some_and(|loader| loader.num_workers > 0)
}

fn end_lane(run: &Run, pass: &Pass, lane: &Lane, out: &mut impl Write) -> io::Result<()> {
    let Some(samples) = lane.ended else { return Ok(()) };
    let in_main = lane.worker == Worker::MAIN;
    let batches = pass.delivered.as_ref().filter(|_| in_main).map(|batches| batches.len() as u64);
    if in_main && !has_workers(run, pass.loader) {
        write_delivered(pass, out)?;
    }
    let (worker, whole) = (lane.worker.0, pass.whole);
    line(out, &Record::End(record::End { loader: lane.loader, epoch: lane.epoch, worker, samples, whole, batches }))
}

fn end_pass(run: &Run, pass: &Pass, out: &mut impl Write) -> io::Result<()> {
    let told = lanes(run, pass).iter().any(|lane| lane.worker == Worker::MAIN && lane.ended.is_some());
    if told {
        return Ok(());
    }
    write_delivered(pass, out)?;
    if !has_workers(run, pass.loader) {
        return Ok(());
    }
    let batches = pass.delivered.as_ref().map(|batches| batches.len() as u64);
    let (loader, epoch, worker, whole) = (pass.loader, pass.epoch, Worker::MAIN.0, pass.whole);
    line(out, &Record::End(record::End { loader, epoch, worker, samples: 0, whole, batches }))
}

fn write_delivered(pass: &Pass, out: &mut impl Write) -> io::Result<()> {
    for batch in pass.delivered.iter().flatten() {
        let (loader, epoch, batch) = (pass.loader, pass.epoch, *batch);
        line(out, &Record::Delivered(record::Delivered { loader, epoch, batch }))?;
    }
    Ok(())
}

fn write_lane(run: &Run, lane: &Lane, texts: &Texts, out: &mut impl Write) -> io::Result<()> {
    let (loader, epoch, worker) = (lane.loader, lane.epoch, lane.worker.0);
    for moved in &lane.starts {
        let (source, algorithm) = run.names.sources[usize::from(moved.source.0)].clone();
        let state = notation::state(&algorithm, moved.state);
        line(out, &Record::Stream(record::Stream { loader, epoch, worker, source, algorithm, state }))?;
    }
    let place = format!(r#""loader":{loader},"epoch":{epoch},"worker":{worker}"#);
    let mut batches = lane.batches.iter().peekable();
    let mut last = None;
    for sample in lane.samples() {
        // A batch is collated once its samples are made.
        if last.is_some() && sample.batch != last {
            while let Some(row) = batches.next_if(|row| Some(row.batch) == last) {
                write_batch(run, lane, row, out)?;
            }
        }
        last = sample.batch;
        write_sample(&sample, &place, texts, out)?;
    }
    for row in batches {
        write_batch(run, lane, row, out)?;
    }
    Ok(())
}

fn write_batch(run: &Run, lane: &Lane, row: &crate::trace::run::BatchRow, out: &mut impl Write) -> io::Result<()> {
    line(
        out,
        &Record::Batch(record::Batch {
            loader: lane.loader,
            epoch: lane.epoch,
            worker: lane.worker.0,
            batch: row.batch,
            output: row.output.map(|digest| format!("{:032x}", digest.0)),
            states: row.states.iter().map(|moved| named(&run.names, *moved)).collect(),
        }),
    )
}

/// What is the same in many lines, as JSON.
struct Texts<'a> {
    names: &'a Names,
    /// `"name":"algorithm:`, by source.
    sources: Vec<String>,
    kinds: Vec<KindText>,
}

/// The parts of a transform that its calls share.
struct KindText {
    /// `["name",`
    head: String,
    /// `,p,{`
    p: String,
    /// `"name":[` and `,"distribution",low,high]`, by parameter.
    parameters: Vec<(String, String)>,
}

impl<'a> Texts<'a> {
    fn new(names: &'a Names) -> Self {
        let source = |(name, algorithm): &(String, String)| {
            let algorithm = quoted(algorithm);
            format!("{}:{}:", quoted(name), &algorithm[..algorithm.len() - 1])
        };
        let sources = names.sources.iter().map(source).collect();
        Self { names, sources, kinds: names.kinds.iter().map(KindText::new).collect() }
    }

    fn states(&self, states: impl Iterator<Item = Moved>, key: &str, out: &mut impl Write) -> io::Result<()> {
        let mut before = format!(r#","{key}":{{"#);
        let mut any = false;
        for moved in states {
            let head = &self.sources[usize::from(moved.source.0)];
            write!(out, "{before}{head}{}:{}\"", moved.state.key, moved.state.position)?;
            ",".clone_into(&mut before);
            any = true;
        }
        if any { out.write_all(b"}") } else { Ok(()) }
    }

    fn event(&self, event: &Event<'_>, out: &mut impl Write) -> io::Result<()> {
        let text = &self.kinds[event.kind.0 as usize];
        let applied = match event.applied {
            None => "null",
            Some(true) => "true",
            Some(false) => "false",
        };
        write!(out, "{}{applied}{}", text.head, text.p)?;
        let parameters = &self.names.transform(event.kind).parameters;
        for (i, (value, (head, tail))) in event.values.iter().zip(&text.parameters).enumerate() {
            let comma = if i == 0 { "" } else { "," };
            write!(out, "{comma}{head}")?;
            let is_text = parameters[i].distribution == Distribution::Other(Distribution::TEXT.to_owned());
            match self.names.texts.get(*value as usize).filter(|_| is_text && *value >= 0.0) {
                Some(text) => out.write_all(quoted(text).as_bytes())?,
                // `null` where it is no number.
                None => serde_json::to_writer(&mut *out, &(!is_text).then_some(value))?,
            }
            out.write_all(tail.as_bytes())?;
        }
        out.write_all(b"}]")
    }
}

impl KindText {
    fn new(kind: &TransformKind) -> Self {
        let json = |x: Option<f64>| serde_json::to_string(&x).expect("a number or null");
        let parameters = kind.parameters.iter().map(|parameter| {
            let word = quoted(parameter.distribution.word());
            (
                format!("{}:[", quoted(&parameter.name)),
                format!(",{word},{},{}]", json(parameter.low), json(parameter.high)),
            )
        });
        Self {
            head: format!("[{},", quoted(&kind.name)),
            p: format!(",{},{{", json(kind.p)),
            parameters: parameters.collect(),
        }
    }
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("a text becomes JSON")
}

fn write_sample(sample: &SampleView<'_>, place: &str, texts: &Texts, out: &mut impl Write) -> io::Result<()> {
    write!(out, r#"{{"type":"sample",{place},"seq":{}"#, sample.seq)?;
    if let Some(batch) = sample.batch {
        write!(out, r#","batch":{batch}"#)?;
    }
    match sample.index {
        Index::Absent => {}
        Index::Number(n) => write!(out, r#","index":{n}"#)?,
        Index::Text(number) => write!(out, r#","index":{}"#, quoted(&texts.names.texts[number as usize]))?,
    }
    if let Some(output) = sample.output {
        write!(out, r#","output":"{:032x}""#, output.0)?;
    }
    texts.states(sample.states.iter().copied(), "states", out)?;
    texts.states(sample.before(), "before", out)?;
    for (i, source) in sample.reseeded().enumerate() {
        let open = if i == 0 { r#","reseeded":["# } else { "," };
        write!(out, "{open}{}", quoted(texts.names.source_name(source)))?;
    }
    if sample.reseeded().next().is_some() {
        out.write_all(b"]")?;
    }
    if sample.opaque() > 0 {
        write!(out, r#","opaque":{}"#, sample.opaque())?;
    }
    if sample.joint() > 1 {
        write!(out, r#","joint":{}"#, sample.joint())?;
    }
    for (i, event) in sample.events().enumerate() {
        out.write_all(if i == 0 { br#","transforms":["# } else { b"," })?;
        texts.event(&event, out)?;
    }
    out.write_all(if sample.events().next().is_some() { b"]}\n" } else { b"}\n" })
}
