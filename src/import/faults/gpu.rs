//! The process of a report, and the GPU of one that has the driver's number of it alone.

use std::collections::BTreeSet;

use super::container::join_outer;
use super::merge::Own;
use crate::capture::{AgentInference, Capture, Fault};

/// Marks reports of other processes and GPUs, and names the agents of reports by their numbers: the agent of another
/// report with the same number, or the only GPU of a core. The driver numbers processors and GPUs together, so a number
/// alone names none of several GPUs. These agents are marked as inferred.
pub(in crate::import) fn identify(capture: &mut Capture) {
    let own = Own::of(capture);
    capture.faults.iter_mut().for_each(|fault| own.mark(fault));
    join_outer(&mut capture.faults);
    let only = match capture.agents.as_slice() {
        // A core lists all GPUs of its process, with the driver's facts. Other captures may list those of waves alone.
        [agent] if agent.hardware.is_some() => Some(agent.id),
        _ => None,
    };
    let pair = |fault: &Fault| Some((fault.node?, fault.agent.filter(|_| fault.agent_inferred.is_none())?));
    let known: Vec<(u32, u32)> = capture.faults.iter().filter_map(pair).collect();
    // Two numbers are two GPUs, and one of them is not the core's.
    let numbers: BTreeSet<u32> = capture.faults.iter().filter_map(|fault| fault.node).collect();
    let only = only.filter(|_| numbers.len() == 1);
    for fault in capture.faults.iter_mut().filter(|fault| fault.agent.is_none()) {
        let Some(node) = fault.node else { continue };
        let mut agents = known.iter().filter(|(of, _)| *of == node).map(|(_, agent)| *agent);
        let inferred = match agents.next() {
            // Reports that contradict each other name none.
            Some(agent) if agents.all(|other| other == agent) => Some((agent, AgentInference::SameNode)),
            Some(_) => None,
            None => only.map(|agent| (agent, AgentInference::OnlyGpu)),
        };
        (fault.agent, fault.agent_inferred) = inferred.unzip();
    }
}

#[cfg(test)]
mod tests {
    use super::super::foreign::agent;
    use super::identify;
    use crate::capture::AgentInference::{OnlyGpu, SameNode};
    use crate::capture::{AgentInference, Capture, Fault};

    /// Agents with their inferences, of reports with a node and an agent.
    fn agents(
        faults: &[(Option<u32>, Option<u32>)],
        gpus: &[u32],
        has_facts: bool,
    ) -> Vec<Option<(u32, Option<AgentInference>)>> {
        let fault = |(node, agent): &(_, _)| Fault { node: *node, agent: *agent, ..Fault::default() };
        let mut capture = Capture {
            agents: gpus.iter().map(|id| agent(*id, has_facts.then_some(0xc300))).collect(),
            faults: faults.iter().map(fault).collect(),
            ..Capture::default()
        };
        identify(&mut capture);
        let found = capture.faults.iter();
        found.map(|fault| fault.agent.map(|agent| (agent, fault.agent_inferred))).collect()
    }

    #[test]
    fn the_only_gpu_of_a_core_has_the_number() {
        let found = agents(&[(Some(4), None), (None, None)], &[51], true);
        assert_eq!(found, [Some((51, Some(OnlyGpu))), None]);
        assert_eq!(agents(&[(Some(4), None)], &[51], false), [None], "a log lists the GPUs of its waves");
        assert_eq!(agents(&[(Some(4), None)], &[51, 52], true), [None]);
        assert_eq!(agents(&[(Some(4), None), (Some(9), None)], &[51], true), [None, None], "two GPUs");
        assert_eq!(agents(&[(Some(4), None)], &[], true), [None]);
    }

    #[test]
    fn another_report_names_the_gpu_of_a_number() {
        let found = agents(&[(Some(4), Some(52)), (Some(4), None), (Some(5), None)], &[51, 52], true);
        assert_eq!(found, [Some((52, None)), Some((52, Some(SameNode))), None]);
        let found = agents(&[(Some(4), Some(52)), (Some(4), Some(51)), (Some(4), None)], &[51, 52], true);
        assert_eq!(found, [Some((52, None)), Some((51, None)), None]);
    }
}
