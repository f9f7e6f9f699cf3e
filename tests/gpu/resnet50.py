"""Times a training step of torchvision's ResNet-50 as the example `resnet50` does it: bf16 by autocast, channels last, f32 master weights, stochastic gradient
descent with momentum; the same images and classes in every step.

    python3 tests/gpu/resnet50.py [BATCH] [SIZE]"""
import sys, time
import torch, torchvision

batch, size = (int(a) for a in (sys.argv[1:] + ["64", "224"][len(sys.argv) - 1:]))
torch.backends.cudnn.benchmark = True
net = torchvision.models.resnet50().cuda().to(memory_format=torch.channels_last)
rate = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9, foreach=True)
images = torch.randn(batch, 3, size, size, device="cuda").to(memory_format=torch.channels_last)
labels = torch.arange(batch, device="cuda") * 37 % 1000


def step():
    rate.zero_grad(set_to_none=True)
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = torch.nn.functional.cross_entropy(net(images), labels)
    loss.backward()
    rate.step()


def timed(run, count=20):
    for _ in range(5):
        run()
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(count):
        run()
    torch.cuda.synchronize()
    return (time.perf_counter() - begin) / count * 1e3


eager = timed(step)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    step()
captured = timed(graph.replay)
print(f"{batch} images of {size} x {size}, PyTorch {torch.__version__}, cuDNN {torch.backends.cudnn.version()}: {eager:.2f} ms a step, {captured:.2f} ms as a graph")
