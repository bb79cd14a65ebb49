// One or two TCP flows over one bottleneck in ns-3, as JSON lines on stdout: what validation/ns3/reference.py stores.
//
//   sender --(10 x rate, 0.1 ms)-- router --(rate, delay, queue in packets)-- receiver
//
// Every key is a command-line option; --PrintHelp lists them. ns-3's own settings are left as they are, but for: segments of
// 1448 bytes, buffers that never limit, initial window 10, minimum RTO as given, no queue discipline above the device's queue.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

/// What is kept of a flow: the window's integral over time and its curve.
struct Flow
{
    std::string variant;
    double start = 0;
    double cwnd = 0;
    double since = 0;
    double integral = 0;
    double srtt = 0;
    uint64_t received = 0;
    uint64_t retransmits = 0;
    std::vector<std::pair<double, double>> curve;
    Ptr<PacketSink> sink;
    uint32_t highest = 0;
};

std::vector<Flow> g_flows;
double g_from = 0;
uint64_t g_dropped = 0;
double g_queueIntegral = 0;
double g_queueSince = 0;
uint32_t g_queue = 0;

double
Now()
{
    return Simulator::Now().GetSeconds();
}

/// The part of the time from `since` to now that is measured.
double
Measured(double since)
{
    return std::max(0.0, Now() - std::max(since, g_from));
}

void
Cwnd(size_t i, uint32_t, uint32_t value)
{
    Flow& flow = g_flows[i];
    flow.integral += flow.cwnd * Measured(flow.since);
    flow.since = Now();
    flow.cwnd = value / 1448.0;
}

void
Srtt(size_t i, Time, Time value)
{
    g_flows[i].srtt = value.GetSeconds();
}

void
Sent(size_t i, Ptr<const Packet> packet, const TcpHeader& header, Ptr<const TcpSocketBase>)
{
    if (packet->GetSize() == 0)
    {
        return;
    }
    Flow& flow = g_flows[i];
    uint32_t end = header.GetSequenceNumber().GetValue() + packet->GetSize();
    if (end <= flow.highest)
    {
        flow.retransmits += Now() >= g_from ? 1 : 0;
    }
    flow.highest = std::max(flow.highest, end);
}

void
Sample(size_t i, double every)
{
    Flow& flow = g_flows[i];
    flow.curve.emplace_back(Now(), flow.cwnd);
    Simulator::Schedule(Seconds(every), &Sample, i, every);
}

void
Dropped(Ptr<const Packet>)
{
    g_dropped += Now() >= g_from ? 1 : 0;
}

void
Backlog(uint32_t, uint32_t value)
{
    g_queueIntegral += g_queue * Measured(g_queueSince);
    g_queueSince = Now();
    g_queue = value;
}

void
Mark()
{
    for (auto& flow : g_flows)
    {
        flow.received = flow.sink->GetTotalRx();
    }
}

void
Watch(size_t i, Ptr<BulkSendApplication> app, double every)
{
    Ptr<Socket> socket = app->GetSocket();
    socket->TraceConnectWithoutContext("CongestionWindow", MakeBoundCallback(&Cwnd, i));
    socket->TraceConnectWithoutContext("RTT", MakeBoundCallback(&Srtt, i));
    socket->TraceConnectWithoutContext("Tx", MakeBoundCallback(&Sent, i));
    g_flows[i].since = Now();
    Sample(i, every);
}

} // namespace

int
main(int argc, char* argv[])
{
    std::string variant = "TcpLinuxReno";
    std::string second;
    double rate = 10;
    double rtt = 40;
    uint32_t queue = 34;
    double seconds = 60;
    double from = 0;
    double gap = 5;
    double every = 0.1;
    double loss = 0;
    double rtoMin = 0.2;
    uint32_t ackEvery = 2;
    uint32_t seed = 1;
    CommandLine cmd(__FILE__);
    cmd.AddValue("variant", "type of the first flow, such as TcpLinuxReno", variant);
    cmd.AddValue("second", "type of a second flow; empty for none", second);
    cmd.AddValue("rate", "bottleneck, Mbit/s", rate);
    cmd.AddValue("rtt", "round-trip time without queueing, ms", rtt);
    cmd.AddValue("queue", "bottleneck's queue, packets", queue);
    cmd.AddValue("seconds", "length of the run, s", seconds);
    cmd.AddValue("from", "start of measurement, s", from);
    cmd.AddValue("gap", "start of the second flow, s", gap);
    cmd.AddValue("every", "time between points of the curve, s", every);
    cmd.AddValue("loss", "probability that a packet is lost on the bottleneck", loss);
    cmd.AddValue("rtomin", "minimum RTO, s", rtoMin);
    cmd.AddValue("ackevery", "segments for one ACK", ackEvery);
    cmd.AddValue("seed", "run number of the random generator", seed);
    cmd.Parse(argc, argv);
    RngSeedManager::SetRun(seed);
    g_from = from;

    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1 << 27));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1 << 27));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(ackEvery));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(Seconds(rtoMin)));
    Config::SetDefault("ns3::TcpSocketBase::ClockGranularity", TimeValue(MilliSeconds(1)));

    std::vector<std::string> variants{variant};
    if (!second.empty())
    {
        variants.push_back(second);
    }
    g_flows.resize(variants.size());
    NodeContainer routers;
    routers.Create(2);
    NodeContainer left;
    left.Create(variants.size());
    NodeContainer right;
    right.Create(variants.size());
    InternetStackHelper internet;
    internet.InstallAll();

    PointToPointHelper edge;
    edge.SetDeviceAttribute("DataRate", DataRateValue(DataRate(uint64_t(rate * 1e7))));
    edge.SetChannelAttribute("Delay", TimeValue(MicroSeconds(100)));
    edge.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("100000p"));
    PointToPointHelper middle;
    middle.SetDeviceAttribute("DataRate", DataRateValue(DataRate(uint64_t(rate * 1e6))));
    middle.SetChannelAttribute("Delay", TimeValue(MicroSeconds(int64_t(rtt * 500) - 200)));
    middle.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue(std::to_string(queue) + "p"));

    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    TrafficControlHelper control;
    auto join = [&](PointToPointHelper& link, Ptr<Node> a, Ptr<Node> b) {
        NetDeviceContainer devices = link.Install(a, b);
        Ipv4InterfaceContainer interfaces = addresses.Assign(devices);
        control.Uninstall(devices);
        addresses.NewNetwork();
        return std::make_pair(devices, interfaces);
    };
    auto bottleneck = join(middle, routers.Get(0), routers.Get(1)).first;
    Ptr<PointToPointNetDevice> out = bottleneck.Get(0)->GetObject<PointToPointNetDevice>();
    out->GetQueue()->TraceConnectWithoutContext("PacketsInQueue", MakeCallback(&Backlog));
    // A full device queue stops the layer above, which then drops.
    routers.Get(0)->GetObject<TrafficControlLayer>()->TraceConnectWithoutContext("TcDrop", MakeCallback(&Dropped));
    if (loss > 0)
    {
        Ptr<RateErrorModel> errors = CreateObject<RateErrorModel>();
        errors->SetAttribute("ErrorUnit", StringValue("ERROR_UNIT_PACKET"));
        errors->SetAttribute("ErrorRate", DoubleValue(loss));
        bottleneck.Get(1)->SetAttribute("ReceiveErrorModel", PointerValue(errors));
    }
    for (size_t i = 0; i < variants.size(); ++i)
    {
        Flow& flow = g_flows[i];
        flow.variant = variants[i];
        flow.start = i * gap;
        join(edge, left.Get(i), routers.Get(0));
        Ipv4Address target = join(edge, routers.Get(1), right.Get(i)).second.GetAddress(1);
        Config::Set("/NodeList/" + std::to_string(left.Get(i)->GetId()) + "/$ns3::TcpL4Protocol/SocketType",
                    TypeIdValue(TypeId::LookupByName("ns3::" + variants[i])));
        PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 5000));
        flow.sink = sink.Install(right.Get(i)).Get(0)->GetObject<PacketSink>();
        BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(target, 5000));
        bulk.SetAttribute("MaxBytes", UintegerValue(0));
        bulk.SetAttribute("SendSize", UintegerValue(1448));
        ApplicationContainer app = bulk.Install(left.Get(i));
        app.Start(Seconds(flow.start));
        Simulator::Schedule(Seconds(flow.start) + NanoSeconds(1),
                            &Watch,
                            i,
                            app.Get(0)->GetObject<BulkSendApplication>(),
                            every);
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    Simulator::Schedule(Seconds(from), &Mark);
    Simulator::Stop(Seconds(seconds));
    Simulator::Run();
    double measured = seconds - from;
    Backlog(0, 0);
    for (size_t i = 0; i < g_flows.size(); ++i)
    {
        Cwnd(i, 0, 0);
        Flow& flow = g_flows[i];
        double own = seconds - std::max(from, flow.start);
        std::printf("{\"variant\":\"%s\",\"start_s\":%g,\"goodput_bps\":%.0f,\"mean_cwnd\":%.4f,\"srtt_s\":%.6f,"
                    "\"retransmits\":%llu,\"drops\":%llu,\"mean_queue\":%.4f,\"curve\":[",
                    flow.variant.c_str(),
                    flow.start,
                    (flow.sink->GetTotalRx() - flow.received) * 8.0 / own,
                    flow.integral / own,
                    flow.srtt,
                    (unsigned long long)flow.retransmits,
                    (unsigned long long)g_dropped,
                    g_queueIntegral / measured);
        const char* comma = "";
        for (auto& [time, cwnd] : flow.curve)
        {
            std::printf("%s[%.2f,%.2f]", comma, time, cwnd);
            comma = ",";
        }
        std::printf("]}\n");
    }
    Simulator::Destroy();
    return 0;
}
